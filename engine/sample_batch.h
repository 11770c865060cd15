// Labelled samples in the form in which they are journalled, replayed and accumulated.
//
// exact:    a row is L signed bytes, the quantised features q
// floating: a row is L floats, the features f themselves (little-endian)
// So the journal and the statistics see the same numbers: replaying gives the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace engram {

struct SampleBatch {
  std::vector<std::string> labels;  // one per row
  std::vector<std::byte> rows;      // labels.size() rows, back to back

  std::size_t size() const { return labels.size(); }
  bool operator==(const SampleBatch&) const = default;
};

// Samples that were learned before, to be taken back or named otherwise. Every sample has an id:
// 1, 2, 3, ... in the order learned, never given again.
struct LearnedSamples {
  std::vector<std::int64_t> ids;  // ascending
  SampleBatch batch;              // of each the label it has now, and its row

  std::size_t size() const { return ids.size(); }
  bool operator==(const LearnedSamples&) const = default;
};

}  // namespace engram
