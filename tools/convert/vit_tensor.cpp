#include "tools/convert/vit_tensor.h"

#include <bit>
#include <cstring>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "platform/protobuf_reader.h"

namespace engram {

namespace {

Status odd_constant(const char* what) {
  return Status(Code::not_supported, what);
}

template <class T>
void add_raw(std::span<const std::byte> raw, std::vector<T>& values) {
  values.resize(raw.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), raw.data(), values.size() * sizeof(T));
}

// What a TensorProto of whole numbers or doubles holds, however it is written.
struct RawValues {
  std::span<const std::byte> raw;           // raw_data 9
  std::vector<std::int64_t> wholes;         // int32_data 5, int64_data 7, uint64_data 11
  std::span<const std::byte> real_doubles;  // double_data 10, packed
};

Result<RawValues> raw_values(const std::string& definition) {
  RawValues values;
  ProtobufReader reader(std::as_bytes(std::span(definition)));
  for (ProtobufField field; reader.next(field);) {
    if (field.number == 5 || field.number == 7 || field.number == 11) {
      each_whole(field, [&](std::uint64_t value) {
        values.wholes.push_back(static_cast<std::int64_t>(value));
      });
    }
    if (field.number == 9) values.raw = field.bytes;
    if (field.number == 10 && field.is_bytes) values.real_doubles = field.bytes;
  }
  if (reader.broken()) return odd_constant("a constant is damaged");
  return values;
}

template <class T>
void add_wholes(std::span<const std::byte> raw, std::vector<std::int64_t>& wholes) {
  std::vector<T> values;
  add_raw(raw, values);
  wholes.insert(wholes.end(), values.begin(), values.end());
}

}  // namespace

std::int64_t value_count(const Dims& dims) {
  std::int64_t count = 1;
  for (const std::int64_t size : dims) {
    if (size < 0 || size > kMostValues) return -1;
    count *= size;
    if (count > kMostValues) return -1;
  }
  return count;
}

std::string shape_text(const Dims& dims) {
  return dims.empty() ? "one number" : fmt::format("{}", fmt::join(dims, " x "));
}

Result<Dims> broadcast(const Dims& a, const Dims& b) {
  Dims result(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < result.size(); ++i) {  // from the end
    const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) {
      return Status(Code::bad_data, fmt::format("tensors of {} and {} do not go together",
                                                shape_text(a), shape_text(b)));
    }
    result[result.size() - 1 - i] = x == 1 ? y : x;
  }
  return result;
}

int normal_axis(std::int64_t axis, std::size_t rank) {
  const auto size = static_cast<std::int64_t>(rank);
  if (axis < -size || axis >= size) return -1;
  return static_cast<int>(axis < 0 ? axis + size : axis);
}

Result<FoldedTensor> fold_constant(OnnxConstant constant) {
  FoldedTensor tensor;
  tensor.dims = constant.dims;
  const std::int64_t count = value_count(tensor.dims);
  if (count < 0) return odd_constant("a constant has an impossible size");
  if (constant.type == OnnxType::float32 || constant.type == OnnxType::float16) {
    tensor.reals = std::move(constant.values);
  } else {
    ENGRAM_ASSIGN(RawValues values, raw_values(constant.definition));
    if (constant.type == OnnxType::float64) {
      std::vector<double> doubles;
      add_raw(values.raw.empty() ? values.real_doubles : values.raw, doubles);
      tensor.reals.assign(doubles.begin(), doubles.end());
    } else {
      tensor.whole = true;
      tensor.wholes = std::move(values.wholes);
      if (constant.type == OnnxType::int64) add_wholes<std::int64_t>(values.raw, tensor.wholes);
      if (constant.type == OnnxType::int32) add_wholes<std::int32_t>(values.raw, tensor.wholes);
      if (constant.type == OnnxType::boolean) add_wholes<std::uint8_t>(values.raw, tensor.wholes);
      if (constant.type != OnnxType::int64 && constant.type != OnnxType::int32 &&
          constant.type != OnnxType::boolean) {
        return odd_constant("it has constants that are neither floats nor whole numbers");
      }
    }
  }
  if (static_cast<std::int64_t>(tensor.size()) != count) {
    return Status(Code::bad_data, "a tensor's shape and its data disagree");
  }
  return tensor;
}

Status WorkBudget::take(std::int64_t values) {
  if (values < 0 || values > left_) {
    return odd_constant("it computes more from constants and shapes than any encoder does");
  }
  left_ -= values;
  return {};
}

}  // namespace engram
