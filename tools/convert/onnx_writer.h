// Writes ONNX files: just enough protobuf for graphs of convolutions and the like.
//
//     OnnxWriter model("net");
//     model.input("image", {OnnxWriter::kBatch, 3, 224, 224});
//     model.weights("w", {32, 3, 3, 3}, values);
//     model.node("Conv", {"image", "w"}, {"x"}, {{"strides", {2, 2}}});
//     model.output("x", {OnnxWriter::kBatch, 32, 112, 112});
//     std::string file = model.finish();
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace engram {

class OnnxWriter {
 public:
  static constexpr std::int64_t kBatch = -1;  // a dimension left open, called "N"
  static constexpr int kOpset = 13;

  struct Attribute {
    Attribute(std::string name, std::int64_t value) : name(std::move(name)), whole(value) {}
    Attribute(std::string name, std::vector<std::int64_t> values)
        : name(std::move(name)), kind(Kind::wholes), wholes(std::move(values)) {}
    Attribute(std::string name, float value)
        : name(std::move(name)), kind(Kind::real), real(value) {}
    Attribute(std::string name, std::string value)
        : name(std::move(name)), kind(Kind::text), text(std::move(value)) {}
    enum class Kind : std::uint8_t { whole, wholes, real, text };
    std::string name;
    Kind kind = Kind::whole;
    std::int64_t whole = 0;
    std::vector<std::int64_t> wholes;
    float real = 0;
    std::string text;
  };

  explicit OnnxWriter(std::string_view graph_name);
  void input(std::string_view name, const std::vector<std::int64_t>& shape);
  void output(std::string_view name, const std::vector<std::int64_t>& shape);
  void weights(std::string_view name, const std::vector<std::int64_t>& shape,
               std::span<const float> values);
  void whole_numbers(std::string_view name, const std::vector<std::int64_t>& shape,
                     std::span<const std::int64_t> values);
  void node(std::string_view operation, const std::vector<std::string>& inputs,
            const std::vector<std::string>& outputs, const std::vector<Attribute>& attributes = {});
  // The file's bytes. Call once.
  std::string finish();
  // Only the graph's part, to append to another ONNX file: protobuf joins the two, so that the
  // nodes and outputs written here are added to those of the file.
  std::string finish_as_addition();

 private:
  std::string graph_;
};

}  // namespace engram
