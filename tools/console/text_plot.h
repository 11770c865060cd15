// A small plot of accuracies, or of other numbers, in a terminal.
//
//   100 % ┤ ● ● ●   ●
//    95 % ┤       ●
//         └─────────
#pragma once

#include <string>
#include <vector>

namespace engram {

// values in %, one column each (NaN: none); from `floor` to 100 in `rows` rows.
std::string text_plot(const std::vector<double>& values, double floor, int rows);
// The same of any numbers, from `low` to `high`.
std::string text_plot(const std::vector<double>& values, double low, double high, int rows);

}  // namespace engram
