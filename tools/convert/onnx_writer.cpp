#include "tools/convert/onnx_writer.h"

#include "platform/protobuf_writer.h"
#include "platform/status.h"

namespace engram {

namespace {

// Field numbers and constants of onnx.proto.
enum ModelField { kIrVersion = 1, kProducerName = 2, kGraph = 7, kOpsets = 8 };
enum GraphField { kNode = 1, kGraphName = 2, kInitializer = 5, kInput = 11, kOutput = 12 };
enum NodeField { kNodeInput = 1, kNodeOutput = 2, kNodeName = 3, kOperation = 4, kAttribute = 5 };
enum AttributeField {
  kAttributeName = 1,
  kReal = 2,
  kWhole = 3,
  kText = 4,
  kWholes = 8,
  kAttributeType = 20
};
enum TensorField { kDims = 1, kDataType = 2, kTensorName = 8, kRawData = 9 };
constexpr std::int64_t kTypeReal = 1, kTypeWhole = 2, kTypeText = 3, kTypeWholes = 7;
constexpr std::int64_t kFloat = 1, kInt64 = 7;
constexpr std::int64_t kIrVersion8 = 8;

std::string value_info(std::string_view name, const std::vector<std::int64_t>& shape) {
  std::string dimensions;
  for (const std::int64_t size : shape) {
    std::string dimension;
    if (size == OnnxWriter::kBatch) {
      put_bytes(dimension, 2, "N");
    } else {
      put_whole(dimension, 1, size);
    }
    put_bytes(dimensions, 1, dimension);
  }
  std::string tensor, type, info;
  put_whole(tensor, 1, kFloat);
  put_bytes(tensor, 2, dimensions);
  put_bytes(type, 1, tensor);
  put_bytes(info, 1, name);
  put_bytes(info, 2, type);
  return info;
}

std::string tensor(std::string_view name, const std::vector<std::int64_t>& shape, std::int64_t type,
                   std::span<const std::byte> values) {
  std::string result;
  for (const std::int64_t size : shape) put_whole(result, kDims, size);
  put_whole(result, kDataType, type);
  put_bytes(result, kTensorName, name);
  // Raw data is little-endian, as are all machines that we build for.
  put_bytes(result, kRawData, {reinterpret_cast<const char*>(values.data()), values.size()});
  return result;
}

std::string attribute_field(const OnnxWriter::Attribute& attribute) {
  using Kind = OnnxWriter::Attribute::Kind;
  std::string field;
  put_bytes(field, kAttributeName, attribute.name);
  switch (attribute.kind) {
    case Kind::whole:
      put_whole(field, kWhole, attribute.whole);
      put_whole(field, kAttributeType, kTypeWhole);
      break;
    case Kind::wholes:
      for (const std::int64_t value : attribute.wholes) put_whole(field, kWholes, value);
      put_whole(field, kAttributeType, kTypeWholes);
      break;
    case Kind::real:
      put_float(field, kReal, attribute.real);
      put_whole(field, kAttributeType, kTypeReal);
      break;
    case Kind::text:
      put_bytes(field, kText, attribute.text);
      put_whole(field, kAttributeType, kTypeText);
      break;
  }
  return field;
}

std::size_t elements(const std::vector<std::int64_t>& shape) {
  std::size_t count = 1;
  for (const std::int64_t size : shape) count *= static_cast<std::size_t>(size);
  return count;
}

}  // namespace

OnnxWriter::OnnxWriter(std::string_view graph_name) {
  if (!graph_name.empty()) put_bytes(graph_, kGraphName, graph_name);
}

void OnnxWriter::input(std::string_view name, const std::vector<std::int64_t>& shape) {
  put_bytes(graph_, kInput, value_info(name, shape));
}

void OnnxWriter::output(std::string_view name, const std::vector<std::int64_t>& shape) {
  put_bytes(graph_, kOutput, value_info(name, shape));
}

void OnnxWriter::weights(std::string_view name, const std::vector<std::int64_t>& shape,
                         std::span<const float> values) {
  ENGRAM_CHECK(elements(shape) == values.size());
  put_bytes(graph_, kInitializer, tensor(name, shape, kFloat, std::as_bytes(values)));
}

void OnnxWriter::whole_numbers(std::string_view name, const std::vector<std::int64_t>& shape,
                               std::span<const std::int64_t> values) {
  ENGRAM_CHECK(elements(shape) == values.size());
  put_bytes(graph_, kInitializer, tensor(name, shape, kInt64, std::as_bytes(values)));
}

void OnnxWriter::node(std::string_view operation, const std::vector<std::string>& inputs,
                      const std::vector<std::string>& outputs,
                      const std::vector<Attribute>& attributes) {
  std::string node;
  for (const std::string& name : inputs) put_bytes(node, kNodeInput, name);
  for (const std::string& name : outputs) put_bytes(node, kNodeOutput, name);
  put_bytes(node, kNodeName, outputs.front());
  put_bytes(node, kOperation, operation);
  for (const Attribute& attribute : attributes) {
    put_bytes(node, kAttribute, attribute_field(attribute));
  }
  put_bytes(graph_, kNode, node);
}

std::string OnnxWriter::finish() {
  std::string opset;
  put_bytes(opset, 1, "");
  put_whole(opset, 2, kOpset);
  std::string model;
  put_whole(model, kIrVersion, kIrVersion8);
  put_bytes(model, kProducerName, "engram");
  put_bytes(model, kOpsets, opset);
  put_bytes(model, kGraph, graph_);
  return model;
}

std::string OnnxWriter::finish_as_addition() {
  std::string model;
  put_bytes(model, kGraph, graph_);
  return model;
}

}  // namespace engram
