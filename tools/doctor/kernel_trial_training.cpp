// Trials of what adapters are trained with: linear maps, scales, dropout, the loss and a step of SGD.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>

#include <fmt/format.h>

#include "tools/doctor/kernel_trial_cases.h"

namespace engram {
namespace {

constexpr double kFloatSums = 1e-5;

// In the words of OperationShape: `frames` rows of activations, `features` wide; a linear map makes
// them `units` wide.
struct Operands {
  explicit Operands(const OperationShape& s) {
    std::mt19937 random(3);
    const auto b = std::size_t(s.frames), l = std::size_t(s.features), m = std::size_t(s.units),
               k = std::size_t(s.classes);
    for (const auto& [values, count] :
         {std::pair{&x, b * l}, std::pair{&other, b * l}, std::pair{&dy, b * m},
          std::pair{&weights, m * l}, std::pair{&bias, m}, std::pair{&scale, l},
          std::pair{&shift, l}, std::pair{&cosines, b * k}, std::pair{&lengths, b}}) {
      values->resize(count);
      for (float& value : *values) value = 1e-3f * float(int(random() % 2000) - 1000);
    }
    labels.resize(b);
    for (int& label : labels) label = int(random() % k);
  }
  BufferVector<float> x, other, dy, weights, bias, scale, shift, cosines, lengths;
  BufferVector<float> sigma{8.0f};
  BufferVector<int> labels;
};

template <class T>
MatrixView<const T> reads(const BufferVector<T>& values, int rows, int cols) {
  return {values.data(), rows, cols, cols};
}

// The outputs of an operation one after the other, 0.5 before it runs: some are added to.
class Outputs {
 public:
  Outputs(TrialFloats& result, std::size_t size) : at_(0), result_(result) {
    result.assign(size, 0.5f);
  }
  MatrixView<float> next(int rows, int cols) {
    float* const data = result_.data() + at_;
    at_ += std::size_t(rows) * std::size_t(cols);
    ENGRAM_CHECK(at_ <= result_.size());
    return {data, rows, cols, cols};
  }

 private:
  std::size_t at_;
  TrialFloats& result_;
};

}  // namespace

std::vector<TrialCase> training_cases(const OperationShape& s) {
  const auto o = std::make_shared<const Operands>(s);
  const int b = s.frames, l = s.features, m = s.units, k = s.classes;
  const auto size = [](int rows, int cols) { return std::size_t(rows) * std::size_t(cols); };
  const std::string map = fmt::format("R {} I {} O {}", b, l, m),
                    rows = fmt::format("R {} C {}", b, l), scores = fmt::format("B {} K {}", b, k);
  const auto x = reads(o->x, b, l), other = reads(o->other, b, l), w = reads(o->weights, m, l),
             dy = reads(o->dy, b, m), bias = reads(o->bias, 1, m), scale = reads(o->scale, 1, l),
             shift = reads(o->shift, 1, l), lengths = reads(o->lengths, 1, b),
             cosines = reads(o->cosines, b, k), sigma = reads(o->sigma, 1, 1);
  const auto labels = reads(o->labels, 1, b);
  using Result = TrialFloats;
  return {
      trial_case("linear", &Kernels::linear, map, s, kFloatSums,
                 [=, keep = o](const Kernels& kernels, const TrialClock& clock, Result& result) {
                   const auto y = Outputs(result, size(b, m)).next(b, m);
                   return clock([&] { return kernels.linear(Stream{}, x, w, bias, y); });
                 }),
      trial_case("linear_back", &Kernels::linear_back, map, s, kFloatSums,
                 [=, keep = o](const Kernels& kernels, const TrialClock& clock, Result& result) {
                   const auto dx = Outputs(result, size(b, l)).next(b, l);
                   return clock([&] { return kernels.linear_back(Stream{}, dy, w, true, dx); });
                 }),
      trial_case("linear_gradient", &Kernels::linear_gradient, map, s, kFloatSums,
                 [=, keep = o](const Kernels& kernels, const TrialClock& clock, Result& result) {
                   Outputs to(result, size(m, l) + size(1, m));
                   const auto dw = to.next(m, l), db = to.next(1, m);
                   return clock([&] { return kernels.linear_gradient(Stream{}, dy, x, dw, db); });
                 }),
      trial_case("scale_shift", &Kernels::scale_shift, rows, s, kSameBits,
                 [=, keep = o](const Kernels& kernels, const TrialClock& clock, Result& result) {
                   const auto z = Outputs(result, size(b, l)).next(b, l);
                   return clock([&] { return kernels.scale_shift(Stream{}, x, scale, shift, z); });
                 }),
      trial_case("scale_shift_back", &Kernels::scale_shift_back, rows, s, kFloatSums,
                 [=, keep = o](const Kernels& kernels, const TrialClock& clock, Result& result) {
                   Outputs to(result, size(b, l) + size(2, l));
                   const auto back = to.next(b, l), dscale = to.next(1, l), dshift = to.next(1, l);
                   return clock([&] {
                     return kernels.scale_shift_back(Stream{}, other, x, scale, back, dscale,
                                                     dshift);
                   });
                 }),
      trial_case("add_scaled", &Kernels::add_scaled, rows, s, kSameBits,
                 [=, keep = o](const Kernels& kernels, const TrialClock& clock, Result& result) {
                   const auto y = Outputs(result, size(b, l)).next(b, l);
                   return clock(
                       [&] { return kernels.add_scaled(Stream{}, x, other, scale, 0.1f, y); });
                 }),
      trial_case("dropout", &Kernels::dropout, rows, s, kSameBits,
                 [=, keep = o](const Kernels& kernels, const TrialClock& clock, Result& result) {
                   const auto y = Outputs(result, size(b, l)).next(b, l);
                   return clock([&] { return kernels.dropout(Stream{}, x, 0.1f, 5, 1000, y); });
                 }),
      trial_case("unit_rows", &Kernels::unit_rows, rows, s, kFloatSums,
                 [=, keep = o](const Kernels& kernels, const TrialClock& clock, Result& result) {
                   Outputs to(result, size(b, l) + size(1, b));
                   const auto y = to.next(b, l), norms = to.next(1, b);
                   return clock([&] { return kernels.unit_rows(Stream{}, x, y, norms); });
                 }),
      trial_case("unit_rows_back", &Kernels::unit_rows_back, rows, s, kFloatSums,
                 [=, keep = o](const Kernels& kernels, const TrialClock& clock, Result& result) {
                   const auto dx = Outputs(result, size(b, l)).next(b, l);
                   return clock(
                       [&] { return kernels.unit_rows_back(Stream{}, x, other, lengths, dx); });
                 }),
      trial_case("cross_entropy", &Kernels::cross_entropy, scores, s, kFloatSums,
                 [=, keep = o](const Kernels& kernels, const TrialClock& clock, Result& result) {
                   Outputs to(result, size(1, b) + size(b, k) + 1);
                   const auto losses = to.next(1, b), slopes = to.next(b, k),
                              dsigma = to.next(1, 1);
                   return clock([&] {
                     return kernels.cross_entropy(Stream{}, cosines, sigma, labels, 0.25f, losses,
                                                  slopes, dsigma);
                   });
                 }),
      trial_case("sgd_step", &Kernels::sgd_step, rows, s, kSameBits,
                 [=, keep = o](const Kernels& kernels, const TrialClock& clock, Result& result) {
                   Outputs to(result, size(2, b * l));
                   const auto v = to.next(b, l), p = to.next(b, l);
                   return clock(
                       [&] { return kernels.sgd_step(Stream{}, x, 0.01f, 0.9f, 5e-4f, v, p); });
                 })};
}

}  // namespace engram
