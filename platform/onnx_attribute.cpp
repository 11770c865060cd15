#include "platform/onnx_attribute.h"

#include <bit>

#include "platform/protobuf_reader.h"

namespace engram {

// AttributeProto: name 1, f 2, i 3, s 4, t 5, ints 8.
OnnxAttribute onnx_attribute(const OnnxNode& node, const std::string& name) {
  for (const auto bytes : node.attributes) {
    OnnxAttribute attribute;
    std::string found;
    ProtobufReader reader(bytes);
    for (ProtobufField field; reader.next(field);) {
      if (field.number == 1) found = field.text();
      if (field.number == 2 && !field.is_bytes) {
        attribute.real = std::bit_cast<float>(static_cast<std::uint32_t>(field.value));
      }
      if (field.number == 3 && !field.is_bytes) {
        attribute.whole = static_cast<std::int64_t>(field.value);
      }
      if (field.number == 4) attribute.text = field.text();
      if (field.number == 5) attribute.tensor = field.bytes;
      if (field.number == 8) {
        each_whole(field, [&](std::uint64_t value) {
          attribute.wholes.push_back(static_cast<std::int64_t>(value));
        });
      }
    }
    if (found != name) continue;
    attribute.given = true;
    return attribute;
  }
  return {};
}

// OperatorSetIdProto: domain 1, version 2.
std::int64_t standard_opset(const OnnxGraph& graph) {
  std::int64_t opset = 0;
  for (const auto bytes : graph.opsets) {
    std::string domain;
    std::int64_t version = 0;
    ProtobufReader reader(bytes);
    for (ProtobufField field; reader.next(field);) {
      if (field.number == 1) domain = field.text();
      if (field.number == 2 && !field.is_bytes) version = static_cast<std::int64_t>(field.value);
    }
    if (domain.empty() || domain == "ai.onnx") opset = version;
  }
  return opset;
}

}  // namespace engram
