#include "tools/bench/kernel_bench_cases.h"

#include <algorithm>
#include <set>

namespace engram {
namespace {

// Cases that are made together. Their names come from cases too, of the smallest shape, so that no
// list has to be kept beside them.
struct CaseFamily {
  std::vector<TrialCase> smallest;
  std::vector<std::function<std::vector<TrialCase>()>> shapes{};

  bool has(const std::vector<std::string>& operations) const {
    return std::any_of(smallest.begin(), smallest.end(), [&](const TrialCase& one) {
      return std::find(operations.begin(), operations.end(), one.operation) != operations.end();
    });
  }
};

// A transformer's block: heads of 64 and an MLP four times as wide inside, as they all are.
OperationShape block_shape(const BenchOptions& o) {
  constexpr int kHeadWidth = 64, kInside = 4;
  const int width = kHeadWidth * o.heads;
  return {.frames = o.pictures,
          .features = width,
          .units = kInside * width,
          .classes = o.classes,
          .tokens = o.tokens,
          .heads = o.heads};
}

std::vector<CaseFamily> case_families(const BenchOptions& o) {
  constexpr OperationShape kLeast{
      .frames = 1, .features = 1, .units = 1, .classes = 1, .samples = 1, .tokens = 6, .heads = 1};
  CaseFamily frames{frame_cases(kLeast)}, floats{float_cases(kLeast)}, factors{factor_cases(1, 1)},
      transformer{transformer_cases(kLeast)}, training{training_cases(kLeast)};
  for (const int units : o.units) {
    for (const int features : o.features) {
      for (const int batch : o.frames) {
        const OperationShape shape{batch, features, units, o.classes, o.samples};
        frames.shapes.emplace_back([shape] { return frame_cases(shape); });
        floats.shapes.emplace_back([shape] { return float_cases(shape); });
      }
    }
    factors.shapes.emplace_back([units, k = o.classes] { return factor_cases(units, k); });
  }
  const OperationShape block = block_shape(o);
  OperationShape rows = block;
  rows.frames = block.frames * block.tokens;
  transformer.shapes.emplace_back([block] { return transformer_cases(block); });
  training.shapes.emplace_back([rows] { return training_cases(rows); });
  return {frames, floats, factors, transformer, training};
}

}  // namespace

std::vector<std::string> bench_operations() {
  std::vector<std::string> names;
  for (const CaseFamily& family : case_families({})) {
    for (const TrialCase& one : family.smallest) {
      if (std::find(names.begin(), names.end(), one.operation) == names.end()) {
        names.push_back(one.operation);
      }
    }
  }
  return names;
}

Status visit_bench_cases(const BenchOptions& options,
                         const std::function<Status(const TrialCase&)>& visit) {
  const std::vector<std::string> wanted =
      options.operations.empty() ? bench_operations() : options.operations;
  std::set<std::string> seen;
  for (const CaseFamily& family : case_families(options)) {
    if (!family.has(wanted)) continue;
    for (const auto& cases : family.shapes) {
      for (const TrialCase& one : cases()) {
        const bool is_wanted =
            std::find(wanted.begin(), wanted.end(), one.operation) != wanted.end();
        if (!is_wanted || !seen.insert(one.operation + one.shape).second) continue;
        ENGRAM_TRY(visit(one));
      }
    }
  }
  return Status();
}

}  // namespace engram
