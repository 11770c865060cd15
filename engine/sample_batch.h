// Labelled samples in the form in which they are journalled, replayed and accumulated.
//
// exact:    a row is L signed bytes, the quantised features q
// floating: a row is L floats, the features f themselves (little-endian)
// So the journal and the statistics see the same numbers: replaying gives the same bits.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace engram {

struct SampleBatch {
  std::vector<std::string> labels;  // one per row
  std::vector<std::byte> rows;      // labels.size() rows, back to back

  std::size_t size() const { return labels.size(); }
  bool operator==(const SampleBatch&) const = default;
};

}  // namespace engram
