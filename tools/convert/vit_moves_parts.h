// Movements that take a part or repeat it (Slice, Split, Gather, Expand, Tile), and what all
// movements are written with; private to vit_moves*.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/convert/vit_moves.h"

namespace engram {

// not_supported: "an operation Reshape ..."
Status odd_move(const OnnxNode& node, const char* what);
// The table of an axis that is taken from `start` in steps.
std::vector<std::int64_t> even_steps(std::int64_t count, std::int64_t start, std::int64_t step);
// Whole numbers from an attribute (older opsets) or from an input; empty: neither is there.
Result<Dims> move_numbers(const OnnxNode& node, const MoveConstants& constants,
                          const char* attribute, std::size_t input);
// The same values in the same order.
Result<Movement> flat_move(const OnnxNode& node, const Dims& from, Dims to);
// All axes as they are.
Movement all_axes(const Dims& dims);

Result<Movement> part_movement(const OnnxNode& node, const MoveConstants& constants,
                               const Dims& dims, int output);

}  // namespace engram
