// Linear equations in double, the textbook way: nothing in common with the code under test.
#pragma once

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace engram::test {

using Table = std::vector<std::vector<double>>;

// A x = b by Gauss with pivoting, for every column of b.
inline Table solve(Table a, Table b) {
  const std::size_t n = a.size();
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t pivot = i;
    for (std::size_t r = i; r < n; ++r) {
      if (std::abs(a[r][i]) > std::abs(a[pivot][i])) pivot = r;
    }
    std::swap(a[i], a[pivot]);
    std::swap(b[i], b[pivot]);
    for (std::size_t r = i + 1; r < n; ++r) {
      const double factor = a[r][i] / a[i][i];
      for (std::size_t c = i; c < n; ++c) a[r][c] -= factor * a[i][c];
      for (std::size_t c = 0; c < b[r].size(); ++c) b[r][c] -= factor * b[i][c];
    }
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t c = 0; c < b[i].size(); ++c) {
      for (std::size_t j = i + 1; j < n; ++j) b[i][c] -= a[i][j] * b[j][c];
      b[i][c] /= a[i][i];
    }
  }
  return b;
}

}  // namespace engram::test
