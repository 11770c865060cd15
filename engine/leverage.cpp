#include "engine/leverage.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/factored_statistics.h"
#include "engine/philox.h"

namespace engram {
namespace {

constexpr std::uint64_t kSeed = 0x6C65766572616765;  // any; the same for ever

// values (R, C) = +-scale. `kind` tells e1 and e2 apart.
void draw_signs(std::uint32_t kind, float scale, MatrixView<float> values) {
  for (int r = 0; r < values.rows; ++r) {
    float* row = values.row(r);
    for (int first = 0; first < values.cols; first += 128) {
      const PhiloxWords words = philox(
          {std::uint32_t(first / 128), std::uint32_t(r), kind, std::uint32_t(PhiloxStream::probes)},
          kSeed);
      const int count = std::min(128, values.cols - first);
      for (int i = 0; i < count; ++i) {
        const bool plus = (words[std::size_t(i / 32)] >> (i % 32) & 1U) != 0;
        row[first + i] = plus ? scale : -scale;
      }
    }
  }
}

}  // namespace

Status dense_probes(const Kernels& kernels, const GramView& gram, MatrixView<float> probes) {
  ENGRAM_CHECK(probes.cols == gram.size);
  draw_signs(0, 1.0F, probes);
  return kernels.triangular_solve(Stream{}, gram, /*transposed=*/false, probes);
}

Status factored_probes(const Kernels& kernels, const FactoredStatistics& factored, double lambda,
                       MatrixView<float> probes) {
  const GramView kernel = factored.kernel().view();
  const KeptSamples& kept = factored.kept();
  ENGRAM_CHECK(probes.cols == factored.hidden_units() && lambda > 0);
  draw_signs(0, float(1.0 / std::sqrt(lambda)), probes);
  std::vector<float> targets(std::size_t(probes.rows) * std::size_t(kernel.size));
  const MatrixView<float> target{targets.data(), probes.rows, kernel.size, kernel.size};
  draw_signs(1, 1.0F, target);

  // e1 - H e2 / sqrt(lambda), a block of samples at a time.
  const int units = probes.cols;
  std::vector<float> hidden(std::size_t(KeptSamples::kBlockRows) * std::size_t(units));
  std::vector<float> products(std::size_t(KeptSamples::kBlockRows) * std::size_t(probes.rows));
  for (int block = 0; block < kept.blocks(); ++block) {
    const int first = block * KeptSamples::kBlockRows, count = kept.block_size(block);
    const MatrixView<float> h{hidden.data(), count, units, units};
    const MatrixView<float> product{products.data(), count, probes.rows, probes.rows};
    kept.widen(first, h);
    ENGRAM_TRY(kernels.score(Stream{}, h, probes, product));
    for (int n = 0; n < count; ++n) {
      for (int r = 0; r < probes.rows; ++r) target(r, first + n) -= product(n, r);
    }
  }
  ENGRAM_TRY(kernels.cholesky_solve(Stream{}, kernel, target));
  return factored.combine(target, probes);
}

float leverage_from(std::span<const float> scores) {
  double sum = 0;
  for (const float score : scores) sum += double(score) * score;
  return scores.empty() ? 0.0F : float(sum / double(scores.size()));
}

}  // namespace engram
