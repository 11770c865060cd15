#include "tools/convert/vit_match.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tools/convert/pickle.h"
#include "tools/convert/vit_moves.h"

namespace engram {

namespace {

bool all_equal(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [&](float v) { return v == values[0]; });
}
bool all_zero(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float v) { return v == 0; });
}

}  // namespace

Status not_plain(const std::string& why) {
  return Status(Code::not_supported, why);
}

BufferVector<float> buffer(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}

std::string VitMatch::what_is(int number) const {
  if (number < 0) return "a constant";
  const VitNode& what = node(number);
  if (!what.onnx) return "the picture";
  return fmt::format("an operation {} ({})", safe_excerpt(what.onnx->operation),
                     shape_text(what.dims));
}

Result<VitPath> VitMatch::back(int number) {
  VitPath path;
  for (; number >= 0; number = step(number).input) {
    const VitStep& at = step(number);
    if (at.kind == VitKind::affine && all_zero(at.bias)) {
      if (all_equal(at.weight)) {
        path.scale *= double(at.weight[0]);
        continue;
      }
      if (path.channels.empty() && path.sources.empty()) {
        path.channels = at.weight;
        continue;
      }
    }
    if (at.kind != VitKind::move) break;
    MoveConstants constants;
    for (const VitOperand& input : node(number).inputs) constants.push_back(input.constant.get());
    ENGRAM_TRY(spend(movement_cost(node(at.input).dims)));
    ENGRAM_ASSIGN(const Movement moved, movement(*node(number).onnx, constants, node(at.input).dims,
                                                 node(number).output));
    if (moved.flat) continue;
    const std::vector<std::int32_t> sources = moved.sources();
    ENGRAM_TRY(spend(std::ssize(sources) + std::ssize(path.sources)));
    if (path.sources.empty()) {
      path.sources = sources;
    } else {
      for (std::int32_t& source : path.sources) source = sources[static_cast<std::size_t>(source)];
    }
  }
  path.node = number;
  bool in_order = number >= 0 && std::ssize(path.sources) == value_count(node(number).dims);
  for (std::size_t i = 0; in_order && i < path.sources.size(); ++i) {
    in_order = path.sources[i] == static_cast<std::int32_t>(i);
  }
  if (in_order) path.sources.clear();
  return path;
}

Result<int> VitMatch::same_as(int number) {
  ENGRAM_ASSIGN(const VitPath path, back(number));
  return path.sources.empty() && path.scale == 1 && path.channels.empty() ? path.node : -1;
}

float VitMatch::weight(const VitStep& linear, std::int64_t row, std::int64_t column) const {
  const std::int64_t place = linear.by_columns ? column * linear.matrix->dims[1] + row
                                               : row * linear.matrix->dims[1] + column;
  return linear.matrix->reals[static_cast<std::size_t>(place)];
}

VitLinear VitMatch::linear(int number) const {
  const VitStep& from = step(number);
  VitLinear result;
  result.weight.reserve(from.matrix->reals.size());
  for (std::int64_t row = 0; row < rows_of(from); ++row) {
    for (std::int64_t column = 0; column < columns_of(from); ++column) {
      result.weight.push_back(weight(from, row, column));
    }
  }
  result.bias = buffer(from.bias);
  return result;
}

Result<VitNorm> norm_of(const VitStep& norm, VitShape& shape) {
  if (shape.epsilon == 0) shape.epsilon = norm.epsilon;
  if (std::fabs(norm.epsilon - shape.epsilon) > 1e-3f * shape.epsilon) {
    return not_plain(fmt::format("its layer norms have different epsilons, {} and {}",
                                 shape.epsilon, norm.epsilon));
  }
  if (std::ssize(norm.weight) != shape.width) {
    return not_plain(fmt::format("a layer norm is over {} values where the tokens have {}",
                                 norm.weight.size(), shape.width));
  }
  return VitNorm{.weight = buffer(norm.weight), .bias = buffer(norm.bias)};
}

}  // namespace engram
