#include "tools/convert/vit_moves_parts.h"

#include <algorithm>

#include <fmt/format.h>

#include "platform/onnx_attribute.h"

namespace engram {

namespace {

std::vector<std::int64_t> strides_of(const Dims& dims) {
  std::vector<std::int64_t> strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

// One axis replaced by some of its places.
void take_places(Movement& move, int axis, const std::vector<std::int64_t>& places) {
  auto& table = move.axes[static_cast<std::size_t>(axis)];
  std::vector<std::int64_t> taken;
  taken.reserve(places.size());
  for (const std::int64_t place : places) taken.push_back(table[static_cast<std::size_t>(place)]);
  table = std::move(taken);
  move.dims[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(places.size());
}

Result<Movement> slice(const OnnxNode& node, const MoveConstants& constants, const Dims& dims) {
  ENGRAM_ASSIGN(const Dims starts, move_numbers(node, constants, "starts", 1));
  ENGRAM_ASSIGN(const Dims ends, move_numbers(node, constants, "ends", 2));
  ENGRAM_ASSIGN(Dims axes, move_numbers(node, constants, "axes", 3));
  ENGRAM_ASSIGN(Dims by, move_numbers(node, constants, "steps", 4));
  if (axes.empty()) axes = even_steps(std::ssize(starts), 0, 1);
  if (by.empty()) by.assign(starts.size(), 1);
  if (starts.size() != ends.size() || starts.size() != axes.size() || starts.size() != by.size()) {
    return odd_move(node, "has bounds that do not go together");
  }
  Movement move = all_axes(dims);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const int axis = normal_axis(axes[i], dims.size());
    if (axis < 0 || by[i] == 0) return odd_move(node, "has no such axis");
    const std::int64_t size = move.dims[static_cast<std::size_t>(axis)];
    const bool forwards = by[i] > 0;
    const auto bound = [&](std::int64_t at) {
      if (at < 0) at = at < -size ? -1 : at + size;  // no overflow: size is small
      return forwards ? std::clamp<std::int64_t>(at, 0, size)
                      : std::clamp<std::int64_t>(at, -1, size - 1);
    };
    const std::int64_t step = std::clamp<std::int64_t>(by[i], -kMostValues, kMostValues);
    std::vector<std::int64_t> places;
    for (std::int64_t at = bound(starts[i]); forwards ? at < bound(ends[i]) : at > bound(ends[i]);
         at += step) {
      places.push_back(at);
    }
    take_places(move, axis, places);
  }
  return move;
}

Result<Movement> split(const OnnxNode& node, const MoveConstants& constants, const Dims& dims,
                       int output) {
  const int axis = normal_axis(onnx_attribute(node, "axis").whole, dims.size());
  if (axis < 0) return odd_move(node, "has no such axis");
  const std::int64_t size = dims[static_cast<std::size_t>(axis)];
  ENGRAM_ASSIGN(Dims parts, move_numbers(node, constants, "split", 1));
  if (parts.empty()) {
    const std::int64_t each = (size + std::ssize(node.outputs) - 1) / std::ssize(node.outputs);
    parts.assign(node.outputs.size(), each);
    parts.back() = size - each * (std::ssize(node.outputs) - 1);
  }
  if (parts.size() != node.outputs.size()) return odd_move(node, "has parts that do not fit");
  std::int64_t first = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] < 0 || parts[i] > size - first) return odd_move(node, "has parts that do not fit");
    if (static_cast<int>(i) == output) break;
    first += parts[i];
  }
  Movement move = all_axes(dims);
  take_places(move, axis, even_steps(parts[static_cast<std::size_t>(output)], first, 1));
  return move;
}

Result<Movement> gather(const OnnxNode& node, const MoveConstants& constants, const Dims& dims) {
  const int axis = normal_axis(onnx_attribute(node, "axis").whole, dims.size());
  if (axis < 0 || constants.size() < 2 || !constants[1] || !constants[1]->whole) {
    return odd_move(node, "takes values by indices that are not known");
  }
  std::vector<std::int64_t> places = constants[1]->wholes;
  for (std::int64_t& place : places) {
    place = normal_axis(place, static_cast<std::size_t>(dims[static_cast<std::size_t>(axis)]));
    if (place < 0) return odd_move(node, "takes values beyond the end");
  }
  Movement move = all_axes(dims);
  take_places(move, axis, places);
  move.dims.erase(move.dims.begin() + axis);  // the indices' own shape stands there
  move.dims.insert(move.dims.begin() + axis, constants[1]->dims.begin(), constants[1]->dims.end());
  return move;
}

Result<Movement> expand(const OnnxNode& node, const MoveConstants& constants, const Dims& dims) {
  ENGRAM_ASSIGN(const Dims shape, move_numbers(node, constants, "shape", 1));
  ENGRAM_ASSIGN(const Dims to, broadcast(dims, shape));
  if (value_count(to) < 0) return odd_move(node, "has an impossible shape");
  Dims from = dims;
  from.insert(from.begin(), to.size() - dims.size(), 1);
  if (from == to) return flat_move(node, dims, to);
  Movement move = all_axes(from);
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (from[i] != to[i]) move.axes[i].assign(static_cast<std::size_t>(to[i]), 0);
  }
  move.dims = to;
  return move;
}

Result<Movement> tile(const OnnxNode& node, const MoveConstants& constants, const Dims& dims) {
  ENGRAM_ASSIGN(const Dims times, move_numbers(node, constants, "repeats", 1));
  if (times.size() != dims.size()) return odd_move(node, "does not fit its input");
  Movement move = all_axes(dims);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (times[i] < 0 || times[i] > kMostValues) return odd_move(node, "has an impossible shape");
    Dims to = move.dims;
    to[i] *= times[i];
    if (value_count(to) < 0) return odd_move(node, "has an impossible shape");
    std::vector<std::int64_t> places;
    for (std::int64_t at = 0; at < to[i]; ++at) places.push_back(at % dims[i]);
    take_places(move, static_cast<int>(i), places);
  }
  return move;
}

}  // namespace

Status odd_move(const OnnxNode& node, const char* what) {
  return Status(Code::not_supported, fmt::format("an operation {} {}", node.operation, what));
}

std::vector<std::int64_t> even_steps(std::int64_t count, std::int64_t start, std::int64_t step) {
  std::vector<std::int64_t> table(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) table[static_cast<std::size_t>(i)] = start + i * step;
  return table;
}

Result<Dims> move_numbers(const OnnxNode& node, const MoveConstants& constants,
                          const char* attribute, std::size_t input) {
  if (const OnnxAttribute given = onnx_attribute(node, attribute); given.given) {
    return given.wholes;
  }
  if (input >= node.inputs.size() || node.inputs[input].empty()) return Dims{};
  if (input >= constants.size() || constants[input] == nullptr || !constants[input]->whole) {
    return odd_move(node, "depends on values of the picture in its shape");
  }
  return constants[input]->wholes;
}

Result<Movement> flat_move(const OnnxNode& node, const Dims& from, Dims to) {
  if (value_count(to) < 0 || value_count(to) != value_count(from)) {
    return odd_move(node, "does not fit its input");
  }
  return Movement{.dims = std::move(to), .flat = true, .axes = {}};
}

Movement all_axes(const Dims& dims) {
  Movement move{.dims = dims, .flat = false, .axes = {}};
  const auto strides = strides_of(dims);
  for (std::size_t i = 0; i < dims.size(); ++i)
    move.axes.push_back(even_steps(dims[i], 0, strides[i]));
  return move;
}

Result<Movement> part_movement(const OnnxNode& node, const MoveConstants& constants,
                               const Dims& dims, int output) {
  const std::string& kind = node.operation;
  if (kind == "Slice") return slice(node, constants, dims);
  if (kind == "Split") return split(node, constants, dims, output);
  if (kind == "Gather") return gather(node, constants, dims);
  if (kind == "Expand") return expand(node, constants, dims);
  return tile(node, constants, dims);
}

}  // namespace engram
