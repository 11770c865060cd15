#include "tools/convert/vit_moves.h"

#include <algorithm>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "platform/onnx_attribute.h"
#include "tools/convert/vit_moves_parts.h"

namespace engram {

namespace {

Result<Movement> reshape(const OnnxNode& node, const MoveConstants& constants, const Dims& dims) {
  ENGRAM_ASSIGN(Dims to, move_numbers(node, constants, "shape", 1));
  const bool zero_is_zero = onnx_attribute(node, "allowzero").whole != 0;
  std::int64_t known = 1;
  std::int64_t* open = nullptr;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (to[i] == 0 && !zero_is_zero && i < dims.size()) to[i] = dims[i];
    if (to[i] == -1 && !open) {
      open = &to[i];
    } else {
      if (to[i] < 1 || to[i] > kMostValues || known > kMostValues / to[i]) {
        return odd_move(node, "has an impossible shape");
      }
      known *= to[i];
    }
  }
  if (open) *open = value_count(dims) / known;
  return flat_move(node, dims, std::move(to));
}

Result<Movement> transpose(const OnnxNode& node, const Dims& dims) {
  Dims order = onnx_attribute(node, "perm").wholes;
  if (order.empty()) {
    order.resize(dims.size());
    std::iota(order.rbegin(), order.rend(), 0);
  }
  Dims sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] != static_cast<std::int64_t>(i))
      return odd_move(node, "has no such order of axes");
  }
  if (order.size() != dims.size()) return odd_move(node, "does not fit its input");
  const Movement all = all_axes(dims);
  Movement move;
  std::int64_t last = -1;
  move.flat = true;  // axes of size 1 may go anywhere
  for (const std::int64_t axis : order) {
    const auto a = static_cast<std::size_t>(axis);
    move.dims.push_back(dims[a]);
    move.axes.push_back(all.axes[a]);
    if (dims[a] == 1) continue;
    move.flat = move.flat && axis > last;
    last = axis;
  }
  if (move.flat) move.axes.clear();
  return move;
}

Result<Movement> squeeze(const OnnxNode& node, const MoveConstants& constants, const Dims& dims) {
  ENGRAM_ASSIGN(const Dims axes, move_numbers(node, constants, "axes", 1));
  std::set<int> dropped;
  for (const std::int64_t axis : axes) {
    dropped.insert(normal_axis(axis, dims.size()));
  }
  Dims to;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const bool drop = axes.empty() ? dims[i] == 1 : dropped.count(static_cast<int>(i)) != 0;
    if (!drop) to.push_back(dims[i]);
  }
  return flat_move(node, dims, std::move(to));
}

Result<Movement> unsqueeze(const OnnxNode& node, const MoveConstants& constants, const Dims& dims) {
  ENGRAM_ASSIGN(const Dims axes, move_numbers(node, constants, "axes", 1));
  std::set<int> added;
  const std::size_t rank = dims.size() + axes.size();
  if (rank > 16) return odd_move(node, "has too many axes");
  for (const std::int64_t axis : axes) added.insert(normal_axis(axis, rank));
  if (added.size() != axes.size() || added.count(-1) != 0)
    return odd_move(node, "has no such axes");
  Dims to(rank, 1);
  for (std::size_t i = 0, next = 0; i < rank; ++i) {
    if (added.count(static_cast<int>(i)) == 0) to[i] = dims[next++];
  }
  return flat_move(node, dims, std::move(to));
}

Result<Movement> flatten(const OnnxNode& node, const Dims& dims) {
  const OnnxAttribute given = onnx_attribute(node, "axis");
  std::int64_t axis = given.given ? given.whole : 1;
  if (axis < 0) axis += std::ssize(dims);
  if (axis < 0 || axis > std::ssize(dims)) return odd_move(node, "has no such axis");
  Dims to{1, 1};
  for (std::size_t i = 0; i < dims.size(); ++i)
    to[static_cast<std::int64_t>(i) < axis ? 0 : 1] *= dims[i];
  return flat_move(node, dims, std::move(to));
}

}  // namespace

bool moves_values(const std::string& operation) {
  static const std::set<std::string> kMoves{"Reshape", "Transpose", "Squeeze",  "Unsqueeze",
                                            "Flatten", "Slice",     "Split",    "Gather",
                                            "Expand",  "Tile",      "Identity", "Dropout"};
  return kMoves.count(operation) != 0;
}

std::int64_t movement_cost(const Dims& dims) {
  constexpr std::int64_t kPerPlace = 16;
  return kPerPlace * std::accumulate(dims.begin(), dims.end(), std::int64_t{0});
}

std::vector<std::int32_t> Movement::sources() const {
  std::vector<std::int32_t> places{0};
  if (flat) {
    places.resize(static_cast<std::size_t>(value_count(dims)));
    std::iota(places.begin(), places.end(), 0);
    return places;
  }
  for (const auto& axis : axes) {
    std::vector<std::int32_t> finer;
    finer.reserve(places.size() * axis.size());
    for (const std::int32_t place : places) {
      for (const std::int64_t step : axis) finer.push_back(place + static_cast<std::int32_t>(step));
    }
    places = std::move(finer);
  }
  return places;
}

Result<Movement> movement(const OnnxNode& node, const MoveConstants& constants, const Dims& dims,
                          int output) {
  const std::string& kind = node.operation;
  if (value_count(dims) < 0) return odd_move(node, "takes a tensor of an impossible size");
  if (kind == "Reshape") return reshape(node, constants, dims);
  if (kind == "Transpose") return transpose(node, dims);
  if (kind == "Squeeze") return squeeze(node, constants, dims);
  if (kind == "Unsqueeze") return unsqueeze(node, constants, dims);
  if (kind == "Flatten") return flatten(node, dims);
  if (kind == "Identity" || kind == "Dropout") return flat_move(node, dims, dims);
  ENGRAM_ASSIGN(Movement move, part_movement(node, constants, dims, output));
  if (value_count(move.dims) < 0) return odd_move(node, "makes a tensor of an impossible size");
  // A slice of everything and the like.
  if (!move.flat && move.dims == dims && move.axes == all_axes(dims).axes) {
    return flat_move(node, dims, dims);
  }
  return move;
}

}  // namespace engram
