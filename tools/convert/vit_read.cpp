#include "tools/convert/vit_read.h"

#include <algorithm>

#include <fmt/format.h>

#include "platform/onnx_graph.h"
#include "tools/convert/pickle.h"
#include "tools/convert/vit_graph.h"
#include "tools/convert/vit_match.h"
#include "tools/convert/vit_steps.h"

namespace engram {

namespace {

class VitReader {
 public:
  explicit VitReader(VitMatch match) : match_(std::move(match)) {}
  Result<VitModel> run(int image);

 private:
  Result<int> first_tokens() const;
  Status features(int tokens);

  VitMatch match_;
  VitModel model_;
};

// What the first layer norm reads.
Result<int> VitReader::first_tokens() const {
  for (int i = 0; i < match_.size(); ++i) {
    if (match_.step(i).kind == VitKind::norm) return match_.step(i).input;
  }
  return not_plain("it has no layer norm");
}

// The one row of `number` that a path takes; -1: several, or parts of some.
std::int64_t row_taken(const VitPath& path, std::int64_t width) {
  if (path.sources.empty()) return 0;
  for (std::size_t i = 0; i < path.sources.size(); ++i) {
    if (path.sources[i] != path.sources[0] + static_cast<std::int32_t>(i)) return -1;
  }
  const bool one = path.sources[0] % width == 0 && std::ssize(path.sources) == width;
  return one ? path.sources[0] / width : -1;
}

// Token 0, the final norm and perhaps a projection, in the orders that exporters have.
Status VitReader::features(int tokens) {
  VitShape& shape = model_.shape;
  const int output = match_.graph().output;
  const Dims& dims = match_.node(output).dims;
  if (dims.empty() || value_count(dims) != dims.back()) {
    return not_plain(
        fmt::format("its output is {} for a picture, not one vector", shape_text(dims)));
  }
  shape.features = static_cast<int>(dims.back());
  int at = output;
  for (bool normed = false;;) {
    ENGRAM_ASSIGN(const VitPath path, match_.back(at));
    const VitKind kind = path.node < 0 ? VitKind::other : match_.step(path.node).kind;
    const bool known = path.node == tokens || kind == VitKind::norm || kind == VitKind::linear;
    if (path.node >= 0 && match_.node(path.node).is("ReduceMean")) {
      return not_plain("its features are a mean over tokens, not the class token");
    }
    if (!known || path.scale != 1 || !path.channels.empty() ||
        (kind == VitKind::linear && (normed || model_.projection))) {
      return not_plain(
          fmt::format("its features come from {} behind the last block; known are the "
                      "class token, a layer norm and a projection",
                      match_.what_is(path.node)));
    }
    const std::int64_t row = row_taken(path, match_.node(path.node).dims.back());
    if (row != 0) return not_plain("its features are not those of the first token");
    if (path.node == tokens) {
      return normed ? Status() : not_plain("it has no layer norm behind the last block");
    }
    if (kind == VitKind::norm) {
      if (normed) return not_plain("two layer norms follow the last block");
      ENGRAM_ASSIGN(model_.norm, norm_of(match_.step(path.node), shape));
      normed = true;
    } else {
      model_.projection = match_.linear(path.node);
      if (VitMatch::columns_of(match_.step(path.node)) != shape.width) {
        return not_plain("its projection is not of one token");
      }
    }
    at = match_.step(path.node).input;
  }
}

Result<VitModel> VitReader::run(int image) {
  model_.shape = {.image = image,
                  .patch = 0,
                  .width = 0,
                  .heads = 0,
                  .blocks = 0,
                  .hidden = 0,
                  .prefix = 0,
                  .features = 0,
                  .epsilon = 0,
                  .gelu = GeluKind::erf};
  ENGRAM_ASSIGN(int tokens, first_tokens());
  ENGRAM_TRY(match_embedding(match_, tokens, model_));
  ENGRAM_ASSIGN(tokens, match_.same_as(tokens));  // axes of size 1 may have been moved
  if (tokens < 0) return not_plain("its tokens are cut or reordered before the first block");
  ENGRAM_TRY(match_blocks(match_, tokens, model_));
  ENGRAM_TRY(features(tokens));
  return std::move(model_);
}

// What can be seen before anything is matched, and says most.
Status first_look(const OnnxGraph& graph) {
  const auto count = [&](const char* operation) {
    return std::count_if(graph.nodes.begin(), graph.nodes.end(),
                         [&](const OnnxNode& node) { return node.operation == operation; });
  };
  const auto convolutions = count("Conv");
  const bool attends = count("Softmax") + count("Attention") > 0;
  if (!attends) {
    return not_plain(fmt::format("it has {} convolutions and no attention: a convolutional network",
                                 convolutions));
  }
  if (convolutions > 1) {
    return not_plain(
        fmt::format("it has {} convolutions where a plain one has a single one, which "
                    "makes the patches: a hybrid",
                    convolutions));
  }
  return {};
}

Result<VitModel> recognise_graph(OnnxGraph onnx, int image) {
  ENGRAM_TRY(first_look(onnx));
  ENGRAM_ASSIGN(VitGraph graph, simplify(std::move(onnx), image));
  std::vector<VitStep> steps = join_pieces(graph);
  return VitReader(VitMatch(std::move(graph), std::move(steps))).run(image);
}

}  // namespace

Result<VitModel> read_vit(std::span<const std::byte> onnx, const std::string& name,
                          const std::string& output, int image) {
  auto graph = read_onnx_graph(onnx, name, output);
  if (!graph.ok() && graph.status().code() != Code::not_supported) return graph.status();
  auto model = graph.ok() ? recognise_graph(std::move(graph).value(), image)
                          : Result<VitModel>(graph.status());
  if (model.ok()) return model;
  std::string why = model.status().what();
  if (why.rfind(name + ": ", 0) == 0) why.erase(0, name.size() + 2);
  if (model.status().code() == Code::bad_data) {
    return Status(Code::bad_data, fmt::format("{}: {}", name, why));
  }
  return Status(
      Code::not_supported,
      fmt::format("{}: Phase 1 is for plain Vision Transformers (ViT, DeiT, DINO, DINOv2, "
                  "CLIP's image towers), and this is none that is known here: {}. It still "
                  "works frozen, as it is",
                  name, why));
}

}  // namespace engram
