// Elementwise work on a matrix, shared between threads: rows in pieces, so that one long row (the
// parameters of a model) is shared like many short ones. The pieces follow from the shape alone.
#pragma once

#include <algorithm>

#include "platform/threads.h"

namespace engram::cpu {

inline constexpr int kPieceElements = 1 << 14;  // 64 KiB of floats: about 10 microseconds

// Calls body(row, begin, end) for columns [begin, end) of each row.
template <class Body>
void for_row_pieces(int rows, int cols, const Body& body) {
  if (rows == 0 || cols == 0) return;
  const int across = (cols - 1) / kPieceElements + 1;
  parallel_for(rows * across, std::max(1, kPieceElements / cols), [&](int first, int last) {
    for (int i = first; i < last; ++i) {
      const int begin = i % across * kPieceElements;
      body(i / across, begin, std::min(begin + kPieceElements, cols));
    }
  });
}

}  // namespace engram::cpu
