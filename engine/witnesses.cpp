#include "engine/witnesses.h"

#include <algorithm>
#include <cmath>

#include "kernels/kernels.h"
#include "platform/philox.h"

namespace engram {
namespace {

// Closer to 1 the rounding of p in float decides, and the sample says nothing.
constexpr double kLargestShare = 0.999;

constexpr std::uint64_t kWitnessSeed = 0x7769746E657373;  // any; the same for ever

double product(const float* f, const double* sum, int count) {
  double total = 0;
  for (int l = 0; l < count; ++l) total += double(f[l]) * sum[l];
  return total;
}

}  // namespace

void Witnesses::add(const std::byte* rows, std::span<const std::int32_t> classes) {
  for (std::size_t i = 0; i < classes.size(); ++i, ++seen_) {
    if (samples_.size() == kMost) {  // of n + 1 samples each stays with the same probability
      const auto n = std::uint64_t(seen_);
      const PhiloxWords words = philox(
          {std::uint32_t(n), std::uint32_t(n >> 32), 0, std::uint32_t(PhiloxStream::witnesses)},
          kWitnessSeed);
      const auto place = int(std::min<std::uint64_t>(words[0] % (n + 1), kMost));
      if (place == kMost) continue;
      samples_.remove({&place, 1});
    }
    samples_.append(rows + i * samples_.row_bytes(), {}, classes.subspan(i, 1), seen_);
  }
}

void Witnesses::clear() {
  samples_.clear();
  seen_ = 0;
}

Result<std::vector<ScoreSummary>> Witnesses::hear(const Statistics& statistics,
                                                  const Readout& readout, const ScoreBlend& blend,
                                                  const Projection& projection,
                                                  const ProjectionScratch& scratch) const {
  std::vector<ScoreSummary> summaries;
  const int classes = int(readout.classes.size()), units = readout.hidden_units;
  const Kernels& kernels = statistics.kernels();
  std::vector<float> values(std::size_t(std::min(scratch.h.rows, kMost)) * std::size_t(classes));
  const MatrixView<const double> sums = statistics.features().sums();
  std::vector<double> squares, products(std::size_t(classes), 0.0), lengths(products);
  for (int k = 0; k < classes; ++k) squares.push_back(squared_length(sums.row(k), sums.cols));
  for (int first = 0; first < samples_.size();) {
    const int count = std::min(scratch.h.rows, samples_.size() - first);
    const MatrixView<float> h = scratch.h.row_range(0, count);
    const MatrixView<float> scores{values.data(), count, classes, classes};
    ENGRAM_TRY(projection.from_rows(samples_.row(first), scratch, h));
    ENGRAM_TRY(kernels.score(Stream{}, h, {readout.weights.data(), classes, units, units}, scores));
    const MatrixView<const float> f = projection.features_of(samples_.row(first), count, scratch);
    ENGRAM_TRY(
        kernels.triangular_solve(Stream{}, statistics.dense().gram(), /*transposed=*/true, h));
    for (int b = 0; b < count; ++b) {
      const int own = samples_.classes()[std::size_t(first + b)];
      const double share = squared_length(h.row(b), units);
      if (!(share < kLargestShare)) continue;
      if (statistics.classes().all()[std::size_t(own)].samples < 2) continue;
      const std::span<float> row(scores.row(b), std::size_t(classes));
      row[std::size_t(own)] -= float(share);
      for (float& value : row) value = float(value / (1.0 - share));
      for (int k = 0; k < classes && blend.mean > 0; ++k) {
        const double gone = k == own ? squared_length(f.row(b), f.cols) : 0.0;
        const double all = product(f.row(b), sums.row(k), f.cols);
        const double left = squares[std::size_t(k)] - (k == own ? 2 * all - gone : 0.0);
        products[std::size_t(k)] = all - gone;
        lengths[std::size_t(k)] = std::sqrt(std::max(left, 0.0));
      }
      blend_scores(blend, products, lengths, row);
      summaries.push_back(summarise(row, own, float(share / (1.0 - share))));
    }
    first += count;
  }
  return summaries;
}

}  // namespace engram
