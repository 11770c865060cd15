#include "platform/onnx_constant.h"

#include <bit>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "platform/half.h"
#include "platform/protobuf_reader.h"
#include "platform/protobuf_writer.h"

namespace engram {

namespace {

using Bytes = std::span<const std::byte>;

// TensorProto's fields.
enum : std::uint32_t {
  kDims = 1,
  kDataType = 2,
  kFloatData = 4,
  kInt32Data = 5,
  kName = 8,
  kRawData = 9,
  kExternalData = 13,
  kDataLocation = 14,
};

Status wrong(const std::string& name, const char* what) {
  return Status(Code::bad_data, fmt::format("{}: {}", name, what));
}

std::string as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void add_floats(const ProtobufField& field, std::vector<float>& values) {
  if (!field.is_bytes) {
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(field.value)));
    return;
  }
  const std::size_t before = values.size();
  values.resize(before + field.bytes.size() / sizeof(float));
  if (values.size() > before) {
    std::memcpy(values.data() + before, field.bytes.data(),
                (values.size() - before) * sizeof(float));
  }
}

// Raw data is little-endian, as are all machines that we build for.
void add_raw(Bytes raw, OnnxType type, std::vector<float>& values) {
  if (type == OnnxType::float32) {
    values.resize(raw.size() / sizeof(float));
    if (!values.empty()) std::memcpy(values.data(), raw.data(), values.size() * sizeof(float));
    return;
  }
  values.resize(raw.size() / sizeof(std::uint16_t));
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint16_t half;
    std::memcpy(&half, raw.data() + i * sizeof half, sizeof half);
    values[i] = from_half(half);
  }
}

std::string whole_tensor(const std::vector<std::int64_t>& dims,
                         const std::vector<std::int64_t>& values) {
  std::string tensor;
  for (const std::int64_t size : dims) put_whole(tensor, kDims, size);
  put_whole(tensor, kDataType, std::int64_t(OnnxType::int64));
  put_bytes(tensor, kRawData,
            {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(std::int64_t)});
  return tensor;
}

}  // namespace

Result<OnnxConstant> read_onnx_tensor(Bytes tensor, const std::string& name) {
  OnnxConstant constant;
  constant.definition = as_text(tensor);
  bool has_raw = false;
  Bytes raw;
  std::vector<std::uint16_t> halves;
  ProtobufReader reader(tensor);
  for (ProtobufField field; reader.next(field);) {
    if (field.number == kDims) {
      each_whole(field, [&](std::uint64_t size) { constant.dims.push_back(std::int64_t(size)); });
    }
    if (field.number == kDataType) constant.type = static_cast<OnnxType>(field.value);
    if (field.number == kFloatData) add_floats(field, constant.values);
    if (field.number == kInt32Data) {
      each_whole(field, [&](std::uint64_t bits) { halves.push_back(std::uint16_t(bits)); });
    }
    if (field.number == kRawData) raw = field.bytes, has_raw = true;
    if (field.number == kExternalData || (field.number == kDataLocation && field.value == 1)) {
      return wrong(name, "its weights are in another file");
    }
  }
  if (reader.broken()) return wrong(name, "the ONNX file is damaged or cut off");
  if (constant.type != OnnxType::float32 && constant.type != OnnxType::float16) {
    constant.values.clear();
    return constant;
  }
  if (has_raw) {
    add_raw(raw, constant.type, constant.values);
  } else if (constant.type == OnnxType::float16) {
    for (const std::uint16_t half : halves) constant.values.push_back(from_half(half));
  }
  std::uint64_t count = 1;
  for (const std::int64_t size : constant.dims) {
    if (size < 0 || std::uint64_t(size) > tensor.size() + 1) {
      return wrong(name, "a tensor has an impossible size");
    }
    count *= static_cast<std::uint64_t>(size);
    if (count > tensor.size()) break;  // each value takes two bytes at least
  }
  if (count != constant.values.size()) {
    return wrong(name, "a tensor's shape and its data disagree");
  }
  if (constant.type == OnnxType::float32) constant.definition.clear();
  return constant;
}

// AttributeProto: name 1, f 2, i 3, t 5, floats 7, ints 8.
Result<OnnxConstant> read_onnx_constant(const OnnxNode& node, const std::string& name) {
  for (const Bytes attribute : node.attributes) {
    std::string kind;
    std::vector<float> floats;
    std::vector<std::int64_t> wholes;
    Bytes tensor;
    ProtobufReader reader(attribute);
    for (ProtobufField field; reader.next(field);) {
      if (field.number == 1) kind = field.text();
      if (field.number == 2 || field.number == 7) add_floats(field, floats);
      if (field.number == 3 || field.number == 8) {
        each_whole(field, [&](std::uint64_t value) { wholes.push_back(std::int64_t(value)); });
      }
      if (field.number == 5) tensor = field.bytes;
    }
    if (kind == "value") return read_onnx_tensor(tensor, name);
    OnnxConstant constant;
    if (kind == "value_float" || kind == "value_floats") {
      constant.type = OnnxType::float32;
      if (kind == "value_floats") constant.dims = {std::ssize(floats)};
      if (kind == "value_float" && floats.size() != 1) break;
      constant.values = std::move(floats);
      return constant;
    }
    if (kind == "value_int" || kind == "value_ints") {
      constant.type = OnnxType::int64;
      if (kind == "value_ints") constant.dims = {std::ssize(wholes)};
      if (kind == "value_int" && wholes.size() != 1) break;
      constant.definition = whole_tensor(constant.dims, wholes);
      return constant;
    }
  }
  return Status(Code::not_supported, fmt::format("{}: a constant of a kind not known here", name));
}

std::string write_onnx_constant(const OnnxConstant& constant, OnnxType as,
                                const std::string& tensor) {
  std::string result;
  if (constant.type != OnnxType::float32) {
    result = constant.definition;  // of a field that comes twice the last one counts: the name
    put_bytes(result, kName, tensor);
    return result;
  }
  for (const std::int64_t size : constant.dims) put_whole(result, kDims, size);
  put_whole(result, kDataType, std::int64_t(as));
  put_bytes(result, kName, tensor);
  if (as == OnnxType::float32) {
    put_bytes(result, kRawData,
              {reinterpret_cast<const char*>(constant.values.data()),
               constant.values.size() * sizeof(float)});
    return result;
  }
  std::vector<std::uint16_t> halves;
  halves.reserve(constant.values.size());
  for (const float value : constant.values) halves.push_back(to_half(value));
  put_bytes(result, kRawData, {reinterpret_cast<const char*>(halves.data()), halves.size() * 2});
  return result;
}

}  // namespace engram
