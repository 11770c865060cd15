#include "tools/convert/onnx_check.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "platform/protobuf_reader.h"

namespace engram {

namespace {

using Bytes = std::span<const std::byte>;

constexpr int kMaxDepth = 8;  // of subgraphs in attributes of nodes
constexpr std::int64_t kMaxNodes = 500'000;
constexpr std::int64_t kMaxFunctions = 1'000;
constexpr std::size_t kMaxName = 1'024;

// Bytes of one element of each TensorProto.DataType that has a fixed size; 0: packed or unknown.
constexpr int kElementSize[] = {0, 4, 1, 1, 2, 2, 4, 8, 0, 1, 2, 8, 4, 8, 8, 16, 2};

class Checker {
 public:
  explicit Checker(const std::string& name) : name_(name) {}
  Result<OnnxSummary> run(Bytes bytes);

 private:
  Status broken(const std::string& what) const {
    return Status(Code::bad_data, fmt::format("{}: {}", name_, what));
  }
  Status damaged() const { return broken("the ONNX file is damaged or cut off"); }
  Status graph(Bytes bytes, int depth);
  Status node(Bytes bytes, int depth);
  Status attribute(Bytes bytes, int depth);
  Status tensor(Bytes bytes, std::string* tensor_name);
  Status sparse_tensor(Bytes bytes);
  Status function(Bytes bytes);
  Status value_info(Bytes bytes, std::vector<OnnxTensorInfo>& list);
  Status shape(Bytes tensor_type, std::vector<std::int64_t>& dims);

  std::string name_;
  OnnxSummary summary_;
  std::set<std::string> weights_;
  std::int64_t functions_ = 0;
};

// Calls `take(field)` for each field; a lambda that returns a Status.
template <class Take>
Status each_field(Bytes bytes, const Status& if_broken, const Take& take) {
  ProtobufReader reader(bytes);
  ProtobufField field;
  while (reader.next(field)) ENGRAM_TRY(take(field));
  return reader.broken() ? if_broken : Status();
}

// TensorProto: dims 1, data_type 2, typed data 4 5 6 7 10 11, name 8, raw_data 9, external_data 13,
// data_location 14.
Status Checker::tensor(Bytes bytes, std::string* tensor_name) {
  std::vector<std::int64_t> dims;
  std::uint64_t type = 0, raw = 0, typed = 0;
  bool has_raw = false;
  bool external = false;
  ENGRAM_TRY(each_field(bytes, damaged(), [&](const ProtobufField& field) -> Status {
    switch (field.number) {
      case 1: {
        if (!field.is_bytes) {
          dims.push_back(static_cast<std::int64_t>(field.value));
        } else {
          ProtobufReader packed(field.bytes);
          while (!packed.at_end() && !packed.broken() && dims.size() <= 16) {
            dims.push_back(static_cast<std::int64_t>(packed.varint()));
          }
          if (packed.broken()) return damaged();
        }
        return dims.size() > 16 ? broken("a tensor has more than 16 dimensions") : Status();
      }
      case 2:
        type = field.value;
        return {};
      case 4:
      case 5:
      case 7:
      case 10:
      case 11:
        typed += field.is_bytes ? field.bytes.size() : 8;
        return {};
      case 6:
        typed += std::max<std::size_t>(field.bytes.size(), 1);
        return {};
      case 8:
        if (field.bytes.size() > kMaxName) return broken("a tensor's name is too long");
        if (tensor_name) *tensor_name = field.text();
        return {};
      case 9:
        raw += field.bytes.size();
        has_raw = true;
        return {};
      case 13:
        external = true;
        return {};
      case 14:
        external = external || field.value == 1;
        return {};
      default:
        return {};
    }
  }));
  if (external) {
    return broken(
        "its weights are in another file (external data), which is not read: save the "
        "model as one ONNX file");
  }
  std::uint64_t count = 1;
  for (const std::int64_t size : dims) {
    if (size < 0 || size > std::int64_t{1} << 31) return broken("a tensor has an impossible size");
    count *= static_cast<std::uint64_t>(size);
    if (count > kMaxOnnx) return broken("a tensor has an impossible size");
  }
  const std::size_t known = type < std::size(kElementSize) ? kElementSize[type] : 0;
  if (has_raw ? known != 0 && raw != count * known : typed * 2 < count) {
    return broken("a tensor's shape and its data disagree");
  }
  return {};
}

Status Checker::sparse_tensor(Bytes bytes) {  // values 1, indices 2
  return each_field(bytes, damaged(), [&](const ProtobufField& field) -> Status {
    return (field.number == 1 || field.number == 2) && field.is_bytes ? tensor(field.bytes, nullptr)
                                                                      : Status();
  });
}

// AttributeProto: t 5, g 6, tensors 10, graphs 11, sparse_tensor 22, sparse_tensors 23.
Status Checker::attribute(Bytes bytes, int depth) {
  return each_field(bytes, damaged(), [&](const ProtobufField& field) -> Status {
    if (!field.is_bytes) return {};
    switch (field.number) {
      case 5:
      case 10:
        return tensor(field.bytes, nullptr);
      case 6:
      case 11:
        return graph(field.bytes, depth + 1);
      case 22:
      case 23:
        return sparse_tensor(field.bytes);
      default:
        return {};
    }
  });
}

Status Checker::node(Bytes bytes, int depth) {  // input 1, output 2, op_type 4, attribute 5
  if (++summary_.nodes > kMaxNodes) return broken("it has more than 500 000 operations");
  return each_field(bytes, damaged(), [&](const ProtobufField& field) -> Status {
    if (field.number <= 4 && field.bytes.size() > kMaxName) return broken("a name is too long");
    return field.number == 5 && field.is_bytes ? attribute(field.bytes, depth) : Status();
  });
}

Status Checker::function(Bytes bytes) {  // node 7
  if (++functions_ > kMaxFunctions) return broken("it has more than 1 000 functions");
  return each_field(bytes, damaged(), [&](const ProtobufField& field) -> Status {
    return field.number == 7 && field.is_bytes ? node(field.bytes, 1) : Status();
  });
}

// TypeProto.Tensor: elem_type 1, shape 2 { dim 1 { dim_value 1, dim_param 2 } }
Status Checker::shape(Bytes tensor_type, std::vector<std::int64_t>& dims) {
  return each_field(tensor_type, damaged(), [&](const ProtobufField& type) -> Status {
    if (type.number != 2 || !type.is_bytes) return {};
    return each_field(type.bytes, damaged(), [&](const ProtobufField& dim) -> Status {
      if (dim.number != 1 || !dim.is_bytes) return {};
      if (dims.size() == 16) return broken("a tensor has more than 16 dimensions");
      dims.push_back(-1);
      return each_field(dim.bytes, damaged(), [&](const ProtobufField& value) -> Status {
        // A size of 0 is how some exporters write "open".
        if (value.number == 1 && !value.is_bytes && static_cast<std::int64_t>(value.value) > 0) {
          dims.back() = static_cast<std::int64_t>(value.value);
        }
        return {};
      });
    });
  });
}

// ValueInfoProto: name 1, type 2 { tensor_type 1 }
Status Checker::value_info(Bytes bytes, std::vector<OnnxTensorInfo>& list) {
  if (list.size() >= 10'000) return broken("it has more than 10 000 inputs or outputs");
  OnnxTensorInfo info;
  ENGRAM_TRY(each_field(bytes, damaged(), [&](const ProtobufField& field) -> Status {
    if (field.number == 1) {
      if (field.bytes.size() > kMaxName) return broken("a name is too long");
      info.name = field.text();
    }
    if (field.number != 2 || !field.is_bytes) return {};
    return each_field(field.bytes, damaged(), [&](const ProtobufField& type) -> Status {
      return type.number == 1 && type.is_bytes ? shape(type.bytes, info.shape) : Status();
    });
  }));
  list.push_back(std::move(info));
  return {};
}

// GraphProto: node 1, initializer 5, input 11, output 12, sparse_initializer 15.
Status Checker::graph(Bytes bytes, int depth) {
  if (depth > kMaxDepth) return broken("its subgraphs are nested too deeply");
  return each_field(bytes, damaged(), [&](const ProtobufField& field) -> Status {
    if (!field.is_bytes) return {};
    switch (field.number) {
      case 1:
        return node(field.bytes, depth);
      case 5: {
        std::string weight;
        ENGRAM_TRY(tensor(field.bytes, &weight));
        if (depth == 0) weights_.insert(std::move(weight));
        return {};
      }
      case 15:
        return sparse_tensor(field.bytes);
      case 11:
        return depth == 0 ? value_info(field.bytes, summary_.inputs) : Status();
      case 12:
        return depth == 0 ? value_info(field.bytes, summary_.outputs) : Status();
      default:
        return {};
    }
  });
}

// ModelProto: ir_version 1, graph 7, opset_import 8 { domain 1, version 2 }, functions 25.
Result<OnnxSummary> Checker::run(Bytes bytes) {
  if (bytes.size() > kMaxOnnx) return broken("it is larger than the 2 GiB that ONNX allows");
  const Status foreign =
      broken("it is not an ONNX file. Models of other kinds must be exported to ONNX first");
  bool has_graph = false;
  std::uint64_t ir_version = 0;
  // Whether it is ONNX at all, before complaints about its parts.
  ProtobufReader reader(bytes);
  for (ProtobufField field; reader.next(field);) {
    if (field.number == 1 && !field.is_bytes) ir_version = field.value;
    has_graph = has_graph || (field.number == 7 && field.is_bytes);
  }
  if (ir_version < 1 || ir_version > 1'000) return foreign;
  if (reader.broken()) return damaged();
  if (!has_graph) return foreign;
  ENGRAM_TRY(each_field(bytes, damaged(), [&](const ProtobufField& field) -> Status {
    if (!field.is_bytes) return {};
    if (field.number == 7) return graph(field.bytes, 0);
    if (field.number == 25) return function(field.bytes);
    if (field.number != 8) return {};
    std::string domain;
    std::int64_t version = 0;
    ENGRAM_TRY(each_field(field.bytes, damaged(), [&](const ProtobufField& part) -> Status {
      if (part.number == 1 && part.bytes.size() <= kMaxName) domain = part.text();
      if (part.number == 2) version = static_cast<std::int64_t>(part.value);
      return {};
    }));
    if (domain.empty() || domain == "ai.onnx") summary_.opset = version;
    return {};
  }));
  auto& inputs = summary_.inputs;
  inputs.erase(std::remove_if(inputs.begin(), inputs.end(),
                              [&](const auto& input) { return weights_.count(input.name) != 0; }),
               inputs.end());
  if (summary_.nodes == 0) return broken("the ONNX file has no operations");
  if (inputs.empty()) return broken("the ONNX file has no input");
  if (summary_.outputs.empty()) return broken("the ONNX file has no output");
  return std::move(summary_);
}

}  // namespace

Result<OnnxSummary> check_onnx(std::span<const std::byte> bytes, const std::string& name) {
  return Checker(name).run(bytes);
}

}  // namespace engram
