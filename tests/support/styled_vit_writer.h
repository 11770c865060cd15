// The writer behind styled_vit.h; private to styled_vit*.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/styled_vit.h"
#include "tools/convert/onnx_writer.h"

namespace engram::test {

class StyledVitWriter {
 public:
  StyledVitWriter(const VitModel& model, const VitStyle& style)
      : m_(model), s_(model.shape), style_(style), out_("styled") {}
  std::string run();

 private:
  std::string fresh() { return "t" + std::to_string(next_++); }
  std::string node(const char* operation, std::vector<std::string> inputs,
                   std::vector<OnnxWriter::Attribute> attributes = {}) {
    const std::string result = fresh();
    out_.node(operation, inputs, {result}, attributes);
    return result;
  }
  template <class Values>
  std::string weights(const std::vector<std::int64_t>& dims, const Values& values) {
    const std::string name = fresh();
    out_.weights(name, dims, {values.data(), values.size()});
    return name;
  }
  std::string number(float value) { return weights({}, std::vector<float>{value}); }
  std::string wholes(const std::vector<std::int64_t>& values) {
    const std::string name = fresh();
    out_.whole_numbers(name, {std::ssize(values)}, values);
    return name;
  }
  std::string whole(std::int64_t value) {
    const std::string name = fresh();
    out_.whole_numbers(name, {}, {&value, 1});
    return name;
  }
  std::string reshape(const std::string& x, const std::vector<std::int64_t>& to) {
    return node("Reshape", {x, wholes(to)});
  }
  // (N, ...) where N comes from a chain of Shape, Gather, Unsqueeze and Concat.
  std::string reshape_open(const std::string& x, std::vector<std::int64_t> rest);
  std::string turned(const std::string& x, const std::vector<std::int64_t>& order) {
    return node("Transpose", {x}, {{"perm", order}});
  }
  std::string nothing(const std::string& x) {
    return style_.identities ? node("Dropout", {node("Identity", {x})}) : x;
  }

  std::string linear(const std::string& x, const VitLinear& layer, int in, int out);
  std::string norm(const std::string& x, const VitNorm& layer);
  std::string curve(const std::string& x);
  std::string heads(const std::string& x);  // (N,T,D) -> (N,H,T,d)
  std::string attention(const std::string& x, const VitBlock& block);
  std::string mlp(const std::string& x, const VitBlock& block);
  std::string scaled(const std::string& x, const BufferVector<float>& scale) {
    return scale.empty() ? x : node("Mul", {x, weights({s_.width}, scale)});
  }
  std::string tokens();

  const VitModel& m_;
  VitShape s_;
  VitStyle style_;
  OnnxWriter out_;
  int next_ = 0;
};

}  // namespace engram::test
