// Trials of the operations that have another way for hidden units that are not whole numbers.
#include <algorithm>
#include <memory>
#include <random>

#include <fmt/format.h>

#include "tools/doctor/kernel_trial_cases.h"

namespace engram {
namespace {

constexpr double kFloatSums = 1e-5;

struct Operands {
  explicit Operands(const OperationShape& s) {
    std::mt19937 random(2);
    const auto b = std::size_t(s.frames), m = std::size_t(s.units), k = std::size_t(s.classes),
               n = std::size_t(s.samples);
    hidden.resize(std::max(b, n) * m);
    for (float& value : hidden) value = 1e-3f * float(random() % 2000);
    weights.resize(k * n);
    for (float& value : weights) value = 1e-3f * float(int(random() % 2000) - 1000);
  }
  BufferVector<float> hidden, weights;
};

}  // namespace

std::vector<TrialCase> float_cases(OperationShape s) {
  s.whole_numbers = false;
  const auto o = std::make_shared<const Operands>(s);
  const int b = s.frames, m = s.units, k = s.classes, n = s.samples;
  const KeptView left{nullptr, o->hidden.data(), b, m}, kept{nullptr, o->hidden.data(), n, m};
  return {trial_case("gram_update", &Kernels::gram_update, fmt::format("B {} M {} float", b, m), s,
                     kFloatSums,
                     [=](const Kernels& kernels, const TrialClock& clock, TrialFloats& result) {
                       const auto size = std::size_t(m) * std::size_t(m);
                       result.assign(size + std::size_t(m), 1.0f);
                       return clock([&] {
                         return kernels.gram_update(Stream{}, left.float_rows(), 1.0f,
                                                    {result.data(), result.data() + size, m, m});
                       });
                     }),
          trial_case("kernel_rows", &Kernels::kernel_rows,
                     fmt::format("B {} M {} N {} float", b, m, n), s, kFloatSums,
                     [=](const Kernels& kernels, const TrialClock& clock, TrialFloats& result) {
                       result.resize(std::size_t(b) * std::size_t(n));
                       return clock([&] {
                         return kernels.kernel_rows(Stream{}, left, kept, {result.data(), b, n, n});
                       });
                     }),
          trial_case("combine_rows", &Kernels::combine_rows,
                     fmt::format("K {} N {} M {} float", k, n, m), s, kFloatSums,
                     [=](const Kernels& kernels, const TrialClock& clock, TrialFloats& result) {
                       result.assign(std::size_t(k) * std::size_t(m), 1.0f);
                       return clock([&] {
                         return kernels.combine_rows(Stream{}, {o->weights.data(), k, n, n}, kept,
                                                     {result.data(), k, m, m});
                       });
                     })};
}

}  // namespace engram
