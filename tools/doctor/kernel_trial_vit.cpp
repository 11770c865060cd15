// Trials of what a vision transformer is made of, forward and backward.
#include <algorithm>
#include <cmath>
#include <memory>
#include <random>

#include <fmt/format.h>

#include "tools/doctor/kernel_trial_cases.h"

namespace engram {
namespace {

constexpr double kFloatSums = 1e-5;
constexpr float kEpsilon = 1e-6f;
constexpr int kPrefix = 1;

// In the words of OperationShape: `frames` pictures of `tokens` rows, `features` wide in `heads` heads;
// inside an MLP `units` wide. As many patches as make a square, after the class token; then prompts.
struct Operands {
  explicit Operands(const OperationShape& s)
      : patch(s.features < 192 ? 2 : 16),
        across(int(std::sqrt(float(s.tokens - kPrefix)))),
        patches(across * across),
        prompts(s.tokens - kPrefix - patches) {
    std::mt19937 random(4);
    const auto r = std::size_t(s.frames) * std::size_t(s.tokens), d = std::size_t(s.features);
    const auto pixels = std::size_t(3 * patch * patch * patches);
    for (const auto& [values, count] :
         {std::pair{&pictures, std::size_t(s.frames) * pixels}, std::pair{&x, r * d},
          std::pair{&dy, r * d}, std::pair{&qkv, 3 * r * d},
          std::pair{&inside, r * std::size_t(s.units)}, std::pair{&weight, d}, std::pair{&bias, d},
          std::pair{&stats, 2 * r}, std::pair{&logsums, r * std::size_t(s.heads)}}) {
      values->resize(count);
      for (float& value : *values) value = 1e-3f * float(int(random() % 2000) - 1000);
    }
    for (float& value : logsums) value += 4.0f;
  }
  int patch, across, patches, prompts;
  BufferVector<float> pictures, x, dy, qkv, inside, weight, bias, stats, logsums;
};

MatrixView<const float> reads(const BufferVector<float>& values, int rows, int cols) {
  return {values.data(), rows, cols, cols};
}
MatrixView<float> writes(TrialFloats& result, int rows, int cols, std::size_t before = 0) {
  result.resize(before + std::size_t(rows) * std::size_t(cols));
  return {result.data() + before, rows, cols, cols};
}

using Result = TrialFloats;

std::vector<TrialCase> token_cases(const OperationShape& s,
                                   const std::shared_ptr<const Operands>& o) {
  const int b = s.frames, d = s.features, tokens = s.tokens, rows = b * tokens;
  const int patch = o->patch, side = patch * o->across, pixels = 3 * side * side,
            known = kPrefix + o->patches;
  OperationShape of_patches = s;  // rows of pixels
  of_patches.tokens = o->patches, of_patches.features = 3 * patch * patch;
  const std::string shape = fmt::format("B {} S {} D {}", b, tokens, d);
  return {trial_case("patches", &Kernels::patches, fmt::format("B {} side {}", b, side), of_patches,
                     kSameBits,
                     [=](const Kernels& kernels, const TrialClock& clock, Result& result) {
                       const auto to = writes(result, b * o->patches, 3 * patch * patch);
                       return clock([&] {
                         return kernels.patches(Stream{}, reads(o->pictures, b, pixels), side,
                                                patch, to);
                       });
                     }),
          trial_case("embed_tokens", &Kernels::embed_tokens, shape, s, kSameBits,
                     [=](const Kernels& kernels, const TrialClock& clock, Result& result) {
                       result.assign(o->x.size(), 0.5f);
                       return clock([&] {
                         return kernels.embed_tokens(
                             Stream{}, reads(o->x, b * o->patches, d), reads(o->bias, kPrefix, d),
                             reads(o->dy, known, d), tokens, {result.data(), rows, d, d});
                       });
                     }),
          trial_case("set_tokens", &Kernels::set_tokens, shape, s, kSameBits,
                     [=](const Kernels& kernels, const TrialClock& clock, Result& result) {
                       result.assign(o->x.size(), 0.5f);
                       return clock([&] {
                         return kernels.set_tokens(Stream{}, reads(o->x, o->prompts, d), known,
                                                   tokens, {result.data(), rows, d, d});
                       });
                     }),
          trial_case("sum_tokens", &Kernels::sum_tokens, shape, s, kSameBits,
                     [=](const Kernels& kernels, const TrialClock& clock, Result& result) {
                       result.assign(o->dy.begin(), o->dy.end());
                       const auto before = result.size();
                       const auto drows = writes(result, o->prompts, d, before);
                       return clock([&] {
                         return kernels.sum_tokens(Stream{}, known, tokens,
                                                   {result.data(), rows, d, d}, drows);
                       });
                     })};
}

std::vector<TrialCase> row_cases(const OperationShape& s,
                                 const std::shared_ptr<const Operands>& o) {
  const int d = s.features, m = s.units, rows = s.frames * s.tokens;
  const std::string shape = fmt::format("R {} D {}", rows, d),
                    inside = fmt::format("R {} F {}", rows, m);
  const auto x = reads(o->x, rows, d), dy = reads(o->dy, rows, d), weight = reads(o->weight, 1, d);
  const auto hidden = reads(o->inside, rows, m);
  return {
      trial_case("layer_norm", &Kernels::layer_norm, shape, s, kFloatSums,
                 [=](const Kernels& kernels, const TrialClock& clock, Result& result) {
                   result.resize(o->x.size() + o->stats.size());
                   return clock([&] {
                     return kernels.layer_norm(Stream{}, x, weight, reads(o->bias, 1, d), kEpsilon,
                                               {result.data(), rows, d, d},
                                               {result.data() + o->x.size(), rows, 2, 2});
                   });
                 }),
      trial_case("layer_norm_back", &Kernels::layer_norm_back, shape, s, kFloatSums,
                 [=](const Kernels& kernels, const TrialClock& clock, Result& result) {
                   result.assign(o->x.size(), 0.5f);
                   return clock([&] {
                     return kernels.layer_norm_back(Stream{}, dy, x, weight,
                                                    reads(o->stats, rows, 2), true,
                                                    {result.data(), rows, d, d});
                   });
                 }),
      trial_case("gelu", &Kernels::gelu, inside, s, kFloatSums,
                 [=, keep = o](const Kernels& kernels, const TrialClock& clock, Result& result) {
                   const auto y = writes(result, rows, m);
                   return clock([&] { return kernels.gelu(Stream{}, hidden, GeluKind::erf, y); });
                 }),
      trial_case("gelu_back", &Kernels::gelu_back, inside, s, kFloatSums,
                 [=, keep = o](const Kernels& kernels, const TrialClock& clock, Result& result) {
                   const auto dx = writes(result, rows, m);
                   return clock([&] {
                     return kernels.gelu_back(Stream{}, hidden, hidden, GeluKind::erf, dx);
                   });
                 })};
}

std::vector<TrialCase> attention_cases(const OperationShape& s,
                                       const std::shared_ptr<const Operands>& o) {
  const int d = s.features, tokens = s.tokens, heads = s.heads, rows = s.frames * tokens;
  const std::string shape = fmt::format("B {} S {} D {} H {}", s.frames, tokens, d, heads);
  const float scale = 1.0f / std::sqrt(float(d / heads));
  const auto qkv = reads(o->qkv, rows, 3 * d);
  return {trial_case("attention", &Kernels::attention, shape, s, kFloatSums,
                     [=](const Kernels& kernels, const TrialClock& clock, Result& result) {
                       result.resize(o->x.size() + o->logsums.size());
                       return clock([&] {
                         return kernels.attention(
                             Stream{}, qkv, tokens, heads, scale, {result.data(), rows, d, d},
                             {result.data() + o->x.size(), s.frames * heads, tokens, tokens});
                       });
                     }),
          trial_case("attention_back", &Kernels::attention_back, shape, s, kFloatSums,
                     [=](const Kernels& kernels, const TrialClock& clock, Result& result) {
                       const auto dqkv = writes(result, rows, 3 * d);
                       return clock([&] {
                         return kernels.attention_back(Stream{}, reads(o->dy, rows, d), qkv,
                                                       reads(o->x, rows, d),
                                                       reads(o->logsums, s.frames * heads, tokens),
                                                       tokens, heads, scale, dqkv);
                       });
                     })};
}

}  // namespace

std::vector<TrialCase> transformer_cases(const OperationShape& s) {
  const auto o = std::make_shared<const Operands>(s);
  std::vector<TrialCase> all;
  for (const auto& cases : {token_cases(s, o), row_cases(s, o), attention_cases(s, o)}) {
    all.insert(all.end(), cases.begin(), cases.end());
  }
  return all;
}

}  // namespace engram
