// The shapes that a self-test tries.
#include "tools/doctor/kernel_trial_cases.h"
#include "tools/doctor/kernel_trials.h"

namespace engram {
namespace {

// Below, at and above the edges of tiles; each way that an operation takes by its batch.
constexpr OperationShape kSmallShapes[] = {
    {1, 31, 63, 3, 5},    {3, 33, 65, 4, 9},      {8, 64, 96, 6, 33}, {16, 128, 100, 7, 64},
    {17, 96, 130, 5, 17}, {64, 128, 128, 10, 65}, {97, 544, 65, 3, 5}};

OperationShape transformer(int pictures, int tokens, int heads, int head, int units) {
  return {.frames = pictures,
          .features = heads * head,
          .units = units,
          .tokens = tokens,
          .heads = heads};
}

}  // namespace

std::vector<TrialMaker> trial_makers(TrialSize size) {
  std::vector<TrialMaker> all;
  const auto add = [&all](auto cases, auto... of) {
    all.emplace_back([=] { return cases(of...); });
  };
  const auto sequence = [](const OperationShape& shape) {
    return std::vector<TrialCase>{sequence_case(shape)};
  };
  const auto large_factor = [](int units) {
    return std::vector<TrialCase>{large_factor_case(units)};
  };
  for (const OperationShape& shape : kSmallShapes) {
    add(frame_cases, shape);
    add(sequence, shape);
    add(float_cases, shape);
    add(training_cases, shape);
  }
  add(transformer_cases, transformer(3, 12, 3, 5, 31));
  add(transformer_cases, transformer(1, 33, 1, 64, 257));
  add(transformer_cases, transformer(1, 19, 1, 72, 100));  // a wide head
  add(factor_cases, 33, 4);
  add(factor_cases, 130, 9);
  if (size == TrialSize::emulator) return all;
  constexpr OperationShape kOneFrame{1, 1280, 4000, 100, 1000};
  add(frame_cases, kOneFrame);
  add(sequence, kOneFrame);
  add(frame_cases, OperationShape{16, 1280, 4000, 100, 1000});
  add(frame_cases, OperationShape{256, 1280, 2000, 101, 1000});
  add(float_cases, OperationShape{16, 1280, 2000, 100, 1000});
  add(factor_cases, 2000, 101);
  add(large_factor, 5000);
  add(transformer_cases, transformer(8, 202, 12, 64, 3072));
  add(training_cases,
      OperationShape{.frames = 8 * 197, .features = 768, .units = 3072, .classes = 100});
  return all;
}

}  // namespace engram
