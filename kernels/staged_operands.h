// The operands of an operation in memory that the device reaches: copies where they lie elsewhere.
#pragma once

#include <cstddef>
#include <type_traits>

#include "kernels/gram_view.h"
#include "kernels/kept_view.h"
#include "kernels/sign_project.h"
#include "platform/device_staging.h"
#include "platform/picture_view.h"

namespace engram {

class StagedOperands {
 public:
  StagedOperands(const DeviceMemory& memory, StagingTurn& turn) : memory_(memory), turn_(turn) {}
  const Status& status() const { return status_; }

  template <class T>
  MatrixView<T> place(MatrixView<T> view) {
    if (view.rows == 0 || view.cols == 0 || memory_.reaches(view.data)) return view;
    const std::size_t bytes = sizeof(T) * std::size_t(view.cols);
    void* const there = copy(view.data, sizeof(T) * std::size_t(view.stride), bytes,
                             std::size_t(view.rows), !std::is_const_v<T>);
    static_assert(16 % sizeof(T) == 0);  // whole elements in a row
    return {static_cast<T*>(there), view.rows, view.cols,
            int(StagingTurn::row_pitch(bytes) / sizeof(T))};
  }
  GramView place(GramView g) {
    const MatrixView<float> square = place(MatrixView<float>{g.data, g.size, g.size, g.stride});
    const bool has_diagonal = g.diagonal != nullptr;
    const MatrixView<float> row{g.diagonal, has_diagonal ? 1 : 0, g.size, g.size};
    return {square.data, place(row).data, g.size, square.stride};
  }
  KeptView place(KeptView kept) {
    return {place_array(kept.bytes, std::size_t(kept.rows) * std::size_t(kept.cols)),
            place_array(kept.floats, std::size_t(kept.rows) * std::size_t(kept.cols)), kept.rows,
            kept.cols};
  }
  SignMatrixView place(SignMatrixView w) {
    return {place_array(w.words, std::size_t(w.word_rows()) * std::size_t(w.outputs)), w.inputs,
            w.outputs};
  }
  PictureView place(PictureView picture) {
    return {place(picture.pixels), place(picture.chroma), picture.colours};
  }
  // Numbers and settings.
  template <class T>
  requires(!std::is_pointer_v<T>) const T& place(const T& value) { return value; }

 private:
  template <class T>
  const T* place_array(const T* data, std::size_t count) {
    if (data == nullptr || count == 0 || memory_.reaches(data)) return data;
    return static_cast<const T*>(copy(data, sizeof(T) * count, sizeof(T) * count, 1, false));
  }
  void* copy(const void* data, std::size_t pitch, std::size_t bytes, std::size_t rows,
             bool comes_back) {
    if (!status_.ok()) return nullptr;
    Result<void*> there = turn_.place(data, pitch, bytes, rows, comes_back);
    if (there.ok()) return there.value();
    status_ = there.status();
    return nullptr;
  }

  const DeviceMemory& memory_;
  StagingTurn& turn_;
  Status status_;
};

}  // namespace engram
