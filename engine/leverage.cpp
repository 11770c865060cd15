#include "engine/leverage.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/statistics.h"
#include "kernels/kernels.h"
#include "platform/device_staging.h"
#include "platform/philox.h"

namespace engram {
namespace {

constexpr std::uint64_t kLeverageSeed = 0x6C65766572616765;  // any; the same for ever

constexpr int kDrawnAtOnce = 32;  // half of them: as many floats are in memory
constexpr int kWidenedRows = 8;

// values (R, C) = +-scale. `kind` tells e1 and e2 apart, `first_row` counts the rows from there.
void draw_signs(std::uint32_t kind, int first_row, float scale, MatrixView<float> values) {
  for (int r = 0; r < values.rows; ++r) {
    float* row = values.row(r);
    for (int first = 0; first < values.cols; first += 128) {
      const PhiloxWords words = philox({std::uint32_t(first / 128), std::uint32_t(first_row + r),
                                        kind, std::uint32_t(PhiloxStream::probes)},
                                       kLeverageSeed);
      const int count = std::min(128, values.cols - first);
      for (int i = 0; i < count; ++i) {
        const bool plus = (words[std::size_t(i / 32)] >> (i % 32) & 1U) != 0;
        row[first + i] = plus ? scale : -scale;
      }
    }
  }
}

Status dense_probes(const Statistics& statistics, int first, MatrixView<float> probes) {
  draw_signs(0, first, 1.0F, probes);
  return statistics.kernels().triangular_solve(Stream{}, statistics.dense().gram(),
                                               /*transposed=*/false, probes);
}

Status factored_probes(const Statistics& statistics, double lambda, int first,
                       MatrixView<float> probes) {
  const FactoredStatistics& factored = statistics.factored();
  const Kernels& kernels = statistics.kernels();
  const GramView kernel = factored.kernel().view();
  draw_signs(0, first, float(1.0 / std::sqrt(lambda)), probes);
  std::vector<float> targets(std::size_t(probes.rows) * std::size_t(kernel.size));
  const MatrixView<float> target{targets.data(), probes.rows, kernel.size, kernel.size};
  draw_signs(1, first, 1.0F, target);

  // e1 - H e2 / sqrt(lambda), a few samples at a time.
  const int units = probes.cols;
  std::vector<float> hidden(std::size_t(kWidenedRows) * std::size_t(units));
  std::vector<float> products(std::size_t(kWidenedRows) * std::size_t(probes.rows));
  for (int n = 0; n < kernel.size; n += kWidenedRows) {
    const int count = std::min(kWidenedRows, kernel.size - n);
    const MatrixView<float> h{hidden.data(), count, units, units};
    const MatrixView<float> product{products.data(), count, probes.rows, probes.rows};
    factored.kept().widen(n, h);
    ENGRAM_TRY(kernels.score(Stream{}, h, probes, product));
    for (int i = 0; i < count; ++i) {
      for (int r = 0; r < probes.rows; ++r) target(r, n + i) -= product(i, r);
    }
  }
  ENGRAM_TRY(kernels.cholesky_solve(Stream{}, kernel, target));
  return factored.combine(target, probes);
}

// False: not finite.
bool append(const float* row, int units, LeverageProbes& probes) {
  float largest = 0;
  for (int m = 0; m < units; ++m) {
    if (!std::isfinite(row[m])) return false;
    largest = std::max(largest, std::abs(row[m]));
  }
  const float scale = largest > 0 ? largest / 32767.0F : 1.0F;
  if (!(scale > 0)) return false;
  probes.scales.push_back(scale);
  for (int m = 0; m < units; ++m) {
    probes.values.push_back(std::int16_t(std::lround(row[m] / scale)));
  }
  return true;
}

}  // namespace

Result<LeverageProbes> draw_probes(const Statistics& statistics, double lambda, int count) {
  ENGRAM_CHECK(lambda > 0);
  const int units = statistics.hidden_units();
  LeverageProbes probes;
  probes.values.reserve(std::size_t(count) * std::size_t(units));
  std::vector<float> values(std::size_t(std::min(count, kDrawnAtOnce)) * std::size_t(units));
  for (int first = 0; first < count; first += kDrawnAtOnce) {
    DeviceHold::let_others();
    const MatrixView<float> drawn{values.data(), std::min(kDrawnAtOnce, count - first), units,
                                  units};
    ENGRAM_TRY(statistics.form() == Form::dense
                   ? dense_probes(statistics, first, drawn)
                   : factored_probes(statistics, lambda, first, drawn));
    for (int r = 0; r < drawn.rows; ++r) {
      if (!append(drawn.row(r), units, probes)) {
        return Status(Code::bad_data, "Leverage cannot be measured: directions are not finite.");
      }
    }
  }
  return probes;
}

Status leverages_of(const Kernels& kernels, const LeverageProbes& probes, MatrixView<const float> h,
                    float* products, std::span<float> leverages) {
  const int count = int(probes.scales.size());
  return kernels.leverage(Stream{}, h, {probes.values.data(), count, h.cols, h.cols},
                          {probes.scales.data(), 1, count, count}, {products, h.rows, count, count},
                          {leverages.data(), 1, h.rows, h.rows});
}

}  // namespace engram
