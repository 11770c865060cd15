// Trial of a whole frame, from features to scores and leverages, as a Scorer computes it: one
// KernelSequence on operands in shared memory. A device records the second run as a graph and repeats
// it in the third, which is the one that is timed and compared.
#include <algorithm>
#include <memory>
#include <random>
#include <type_traits>

#include <fmt/format.h>

#include "kernels/kernel_sequence.h"
#include "tools/doctor/kernel_trial_cases.h"

namespace engram {
namespace {

template <class Values>
auto view(Values& values, int rows, int cols) {
  using T = std::remove_pointer_t<decltype(values.data())>;
  return MatrixView<T>{values.data(), rows, cols, cols};
}

struct Frame {
  explicit Frame(const OperationShape& s)
      : b(s.frames), l(s.features), m(s.units), k(s.classes), probe_scales(kLeverageProbes, 1e-6f) {
    std::mt19937 random(2);
    const auto fill = [&random](auto& values, int rows, int cols, auto make) {
      values.resize(std::size_t(rows) * std::size_t(cols));
      for (auto& value : values) value = make(random());
    };
    const auto small = [](auto r) { return 1e-4f * float(int(r % 2000) - 1000); };
    fill(features, b, l, [](auto r) { return 0.001f * float(int(r % 8000) - 4000); });
    fill(signs, (l + 31) / 32, m, [](auto r) { return std::uint32_t(r); });
    fill(readout, k, m, small);
    fill(feature_readout, k, l, small);
    fill(probes, kLeverageProbes, m, [](auto r) { return std::int16_t(int(r % 65535) - 32767); });
  }

  int b, l, m, k;
  SharedVector<float> features, readout, feature_readout, probe_scales;
  SharedVector<std::uint32_t> signs;
  SharedVector<std::int16_t> probes;
};

// What a run writes; the same memory in each, or a recording could not be repeated.
struct Written {
  explicit Written(const Frame& f)
      : bytes(std::size_t(f.b) * std::size_t(f.l)),
        projections(std::size_t(f.b) * std::size_t(f.m)),
        not_finite(std::size_t(f.b)),
        hidden(projections.size()),
        products(std::size_t(f.b) * kLeverageProbes),
        scores(std::size_t(f.b) * std::size_t(f.k)),
        leverages(std::size_t(f.b)) {}

  BufferVector<std::int8_t> bytes;
  BufferVector<std::int32_t> projections, not_finite;
  BufferVector<float> hidden, products;
  SharedVector<float> scores, leverages;
};

Status compute(const Kernels& kernels, const Frame& f, Written& w) {
  KernelSequence frame(kernels);
  const auto q = view(w.bytes, f.b, f.l);
  const auto p = view(w.projections, f.b, f.m);
  const auto h = view(w.hidden, f.b, f.m);
  const auto scores = view(w.scores, f.b, f.k);
  ENGRAM_TRY(
      kernels.quantise(Stream{}, view(f.features, f.b, f.l), 40.0f, q, view(w.not_finite, 1, f.b)));
  ENGRAM_TRY(kernels.sign_project(Stream{}, q, {f.signs.data(), f.l, f.m}, p));
  ENGRAM_TRY(kernels.activate(Stream{}, p, 80, 31, h));
  ENGRAM_TRY(kernels.score(Stream{}, h, view(f.readout, f.k, f.m), scores));
  ENGRAM_TRY(kernels.feature_score(Stream{}, q, view(f.feature_readout, f.k, f.l), scores));
  ENGRAM_TRY(kernels.leverage(Stream{}, h, view(f.probes, kLeverageProbes, f.m),
                              view(f.probe_scales, 1, kLeverageProbes),
                              view(w.products, f.b, kLeverageProbes), view(w.leverages, 1, f.b)));
  return frame.end();
}

}  // namespace

TrialCase sequence_case(const OperationShape& shape) {
  const auto frame = std::make_shared<const Frame>(shape);
  const auto run = [frame](const Kernels& kernels, const TrialClock& clock, TrialFloats& result) {
    Written written(*frame);
    constexpr int kUntilRecorded = 2;
    for (int i = 0; i < kUntilRecorded; ++i) ENGRAM_TRY(compute(kernels, *frame, written));
    std::fill(written.scores.begin(), written.scores.end(), 0.0f);
    std::fill(written.leverages.begin(), written.leverages.end(), 0.0f);
    ENGRAM_TRY(clock([&] { return compute(kernels, *frame, written); }));
    result.assign(written.scores.begin(), written.scores.end());
    result.insert(result.end(), written.leverages.begin(), written.leverages.end());
    return Status();
  };
  return {.operation = "frame",
          .shape = fmt::format("B {} L {} M {} K {}", frame->b, frame->l, frame->m, frame->k),
          .size = shape,
          .tolerance = 1e-5,
          .has = [](const Kernels& kernels) { return kernels.score != kCpuKernels.score; },
          .run = run,
          .is_sequence = true};
}

}  // namespace engram
