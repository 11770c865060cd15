// NumPy's arrays in files, so that anybody can check our numbers with three lines of Python and
// bring features of their own.
//
//   .npy   one array: magic, version, a Python literal that says type and shape, the values
//   .npz   a ZIP archive of .npy members, stored or deflated (numpy.savez, savez_compressed)
//
// Read: versions 1 to 3; float16, 32, 64; signed and unsigned integers of 8 to 64 bits; bool; text
// (U) and bytes (S); either byte order; C and Fortran order. Refused with a sentence: pickled
// objects (they can run code), records, complex numbers, dates, and whatever is cut off or does not
// fit its own shape. Strangers wrote these files: every number is checked before it is a size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platform/matrix_view.h"
#include "platform/status.h"

namespace engram {

Status write_npy(const std::string& path, MatrixView<const float> matrix);  // <f4, (rows, cols)
Status write_npy(const std::string& path, std::span<const std::int32_t> values);  // <i4, (count,)

// One array, borrowed from the bytes of its file or member.
class NpyView {
 public:
  // `bytes`: all of the .npy. Messages start with `name`.
  static Result<NpyView> parse(std::span<const std::byte> bytes, std::string name);

  const std::string& name() const { return name_; }
  const std::vector<std::int64_t>& shape() const { return shape_; }
  std::int64_t count() const { return count_; }  // elements
  bool is_text() const { return kind_ == 'U' || kind_ == 'S'; }
  std::string type_text() const;   // "float16", "text"
  std::string shape_text() const;  // "(2929, 1280)"

  // All values in C order. bad_data: another type; NaN, Inf or beyond float (floats); a fraction or
  // 2^53 and more (whole_numbers); U that is not Unicode (texts; the bytes of S are not checked).
  Result<std::vector<float>> floats() const;
  Result<std::vector<std::int64_t>> whole_numbers() const;
  Result<std::vector<std::string>> texts() const;

 private:
  Status parse_header(std::string_view text);
  Status refuse(const std::string& what) const;
  // Where element i, counted in C order, stands in the file.
  const std::byte* element(std::int64_t i) const;
  double real_at(std::int64_t i) const;

  std::string name_;
  char kind_ = 0;       // as in numpy: f i u b U S
  int item_bytes_ = 0;  // of one element
  bool big_endian_ = false;
  bool fortran_order_ = false;
  std::vector<std::int64_t> shape_;
  std::int64_t count_ = 0;
  std::span<const std::byte> data_;
};

}  // namespace engram
