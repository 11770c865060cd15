// A test's matrices in the memory of the backend that runs: what tests/support/kernel_backends.h
// makes of the arguments of an operation.
//
// On a device each matrix is a block of exactly its size, so that a checker sees an access past the
// end. Columns to spare between rows are not initialised; one that a kernel writes to is copied
// back, where GuardedMatrix::untouched() finds it.
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include "kernels/kept_view.h"
#include "kernels/sign_project.h"
#include "platform/matrix_view.h"
#include "platform/picture_view.h"
#include "platform/simt_machine.h"
#include "tests/support/gram_case.h"
#include "tests/support/guarded_matrix.h"

namespace engram::test {

struct Placement {
  bool on_device;
  bool aligned_rows;  // else rows are an odd number of elements apart

  int stride(int cols) const { return aligned_rows ? (cols + 15) / 16 * 16 : (cols + 3) | 1; }
};

class DeviceBlock {
 public:
  explicit DeviceBlock(std::size_t bytes) : memory_(simt::device_allocate(bytes)) {}
  ~DeviceBlock() { simt::device_free(memory_); }
  DeviceBlock(DeviceBlock&& other) = delete;
  void fill(std::size_t offset, const void* from, std::size_t bytes) {
    if (bytes == 0) return;
    std::memcpy(static_cast<char*>(memory_) + offset, from, bytes);
    simt::device_mark_written(static_cast<char*>(memory_) + offset, bytes);
  }
  void* get() const { return memory_; }

 private:
  void* memory_;
};

enum class Access { reads, writes, updates };

// A host's matrix, as an argument.
template <class T>
struct MatrixArgument {
  Access access;
  MatrixView<T> host;
};
template <class T>
MatrixArgument<const T> reads(const GuardedMatrix<T>& matrix) {
  return {Access::reads, matrix.read()};
}
template <class T>
MatrixArgument<const T> reads(MatrixView<const T> view) {
  return {Access::reads, view};
}
template <class T>
MatrixArgument<T> writes(GuardedMatrix<T>& matrix) {
  return {Access::writes, matrix.view()};
}
template <class T>
MatrixArgument<T> updates(GuardedMatrix<T>& matrix) {
  return {Access::updates, matrix.view()};
}

template <class T>
class PlacedMatrix {
 public:
  PlacedMatrix(Placement where, MatrixArgument<T> argument)
      : argument_(argument),
        on_device_(where.on_device),
        stride_(where.stride(argument.host.cols)),
        block_(on_device_ ? elements() * sizeof(T) : 0) {
    if (!on_device_ || argument.access == Access::writes) return;
    for (int r = 0; r < argument.host.rows; ++r) {
      block_.fill(sizeof(T) * r * stride_, argument.host.row(r), sizeof(T) * argument.host.cols);
    }
  }
  ~PlacedMatrix() {
    if constexpr (!std::is_const_v<T>) {
      if (on_device_) copy_back();
    }
  }
  PlacedMatrix(PlacedMatrix&&) = delete;

  MatrixView<T> get() const {
    if (!on_device_) return argument_.host;
    return {static_cast<T*>(block_.get()), argument_.host.rows, argument_.host.cols, stride_};
  }

 private:
  std::size_t elements() const {
    const MatrixView<T>& host = argument_.host;
    return host.rows == 0 ? 0 : std::size_t(host.rows - 1) * stride_ + host.cols;
  }
  void copy_back() {
    const MatrixView<T> host = argument_.host, device = get();
    const auto untouched = [](const T& element) {
      const auto* bytes = reinterpret_cast<const unsigned char*>(&element);
      for (std::size_t i = 0; i < sizeof(T); ++i)
        if (bytes[i] != 0xff) return false;
      return true;
    };
    for (int r = 0; r < host.rows; ++r) {
      if (host.cols > 0) std::memcpy(host.row(r), device.row(r), sizeof(T) * host.cols);
      for (int c = host.cols; c < device.stride && r + 1 < host.rows; ++c) {
        if (!untouched(device(r, c))) host(r, host.cols) = device(r, c);
      }
    }
  }

  MatrixArgument<T> argument_;
  bool on_device_;
  int stride_;
  DeviceBlock block_;
};
template <class T>
PlacedMatrix<T> place(Placement where, MatrixArgument<T> argument) {
  return {where, argument};
}

// ---- other arguments ------------------------------------------------------------------------------
template <class T>
struct Plain {
  T value;
  T get() const { return value; }
};
template <class T>
Plain<T> place(Placement, T value) {
  return {value};
}

class PlacedSigns {
 public:
  PlacedSigns(Placement where, SignMatrixView signs)
      : signs_(signs),
        words_(where, {Access::reads, {signs.words, 1, signs.word_rows() * signs.outputs, 0}}) {}
  SignMatrixView get() const { return {words_.get().data, signs_.inputs, signs_.outputs}; }

 private:
  SignMatrixView signs_;
  PlacedMatrix<const std::uint32_t> words_;
};
inline PlacedSigns place(Placement where, SignMatrixView signs) {
  return {where, signs};
}

class PlacedKept {
 public:
  PlacedKept(Placement where, KeptView kept)
      : kept_(kept),
        bytes_(where, {Access::reads, {kept.bytes, 1, kept.bytes ? kept.rows * kept.cols : 0, 0}}),
        floats_(where,
                {Access::reads, {kept.floats, 1, kept.floats ? kept.rows * kept.cols : 0, 0}}) {}
  KeptView get() const {
    return {kept_.bytes ? bytes_.get().data : nullptr, kept_.floats ? floats_.get().data : nullptr,
            kept_.rows, kept_.cols};
  }

 private:
  KeptView kept_;
  PlacedMatrix<const std::uint8_t> bytes_;
  PlacedMatrix<const float> floats_;
};
inline PlacedKept place(Placement where, KeptView kept) {
  return {where, kept};
}

class PlacedPicture {
 public:
  PlacedPicture(Placement where, PictureView picture)
      : pixels_(where, reads(picture.pixels)),
        chroma_(where, reads(picture.chroma)),
        colours_(picture.colours) {}
  PictureView get() const { return {pixels_.get(), chroma_.get(), colours_}; }

 private:
  PlacedMatrix<const std::uint8_t> pixels_, chroma_;
  YuvColours colours_;
};
inline PlacedPicture place(Placement where, PictureView picture) {
  return {where, picture};
}

class PlacedGram {
 public:
  PlacedGram(Placement where, GramCase& gram)
      : buffer_(where, updates(gram.buffer)), diagonal_(where, updates(gram.diagonal)) {}
  GramView get() const {
    const MatrixView<float> b = buffer_.get();
    return {b.data, diagonal_.get().data, b.rows, b.stride};
  }

 private:
  PlacedMatrix<float> buffer_, diagonal_;
};
inline PlacedGram place(Placement where, GramCase* gram) {
  return {where, *gram};
}

}  // namespace engram::test
