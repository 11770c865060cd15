// Learner::teaching: what leave-one-out over the samples kept says about each class.
#include <algorithm>
#include <new>

#include "engine/learner_impl.h"
#include "engine/teaching.h"
#include "platform/device_staging.h"

namespace engram {
namespace {

// These of the samples kept, in the factored form, with numbers of their own.
Result<FactoredStatistics> factored_of(const Statistics& statistics, const Projection& projection,
                                       const std::vector<int>& selected) {
  constexpr int kRows = KeptSamples::kBlockRows;
  const LearnerConfig& config = statistics.config();
  const KeptSamples& kept = *statistics.kept();
  ENGRAM_ASSIGN(Arena memory, Arena::create(ProjectionScratch::bytes(config, kRows)));
  const ProjectionScratch scratch = ProjectionScratch::take(config, kRows, memory);
  FactoredStatistics factored(config, statistics.kernels());
  ENGRAM_TRY(factored.reserve(int(selected.size())));
  std::vector<std::byte> rows(kRows * kept.row_bytes());
  std::vector<std::int32_t> classes;
  for (std::size_t first = 0; first < selected.size(); first += kRows) {
    const std::size_t count = std::min<std::size_t>(kRows, selected.size() - first);
    classes.clear();
    for (std::size_t b = 0; b < count; ++b) {
      const int n = selected[first + b];
      classes.push_back(kept.classes()[std::size_t(n)]);
      std::copy_n(kept.row(n), kept.row_bytes(), rows.data() + b * kept.row_bytes());
    }
    const MatrixView<float> h = scratch.h.row_range(0, int(count));
    ENGRAM_TRY(projection.from_rows(rows.data(), scratch, h));
    ENGRAM_TRY(factored.add(rows.data(), h, classes, std::int64_t(first)));
  }
  return factored;
}

}  // namespace

Result<Teaching> Learner::teaching() const {
  const DeviceHold hold;
  Statistics& statistics = impl_->statistics;
  if (statistics.kept() == nullptr) {
    return Status(Code::not_supported,
                  "No samples are kept (--keep-features no), so classes cannot be judged by "
                  "leaving samples out.");
  }
  if (statistics.kept()->size() == 0 && statistics.samples() > 0) {
    return Status(Code::not_supported,
                  "Only sums are known of what was learned (it came from a state without samples, "
                  "or from an earlier version), so classes cannot be judged by leaving samples "
                  "out. Samples that are taught from now on are kept.");
  }
  const std::shared_ptr<const Readout> current = readout();
  if (current == nullptr) {
    return Status(Code::not_found, "No task has ended yet: classes are judged from then on.");
  }
  try {
    const KeptSamples& kept = *statistics.kept();
    const int classes = statistics.classes().size();
    const bool dense = statistics.form() == Form::dense;
    const std::vector<int> rows =
        stratified_rows(kept.classes(), classes, dense ? kTeachingSamples : kept.size());
    std::optional<FactoredStatistics> made;
    if (dense) {
      ENGRAM_ASSIGN(FactoredStatistics some, factored_of(statistics, *impl_->projection, rows));
      made.emplace(std::move(some));
    } else {
      ENGRAM_TRY(statistics.complete());
    }
    const FactoredStatistics& factored = made ? *made : statistics.factored();
    const GramView kernel = factored.kernel().view();
    // A part of what was learned has a part of its ridge (engine/left_out.h).
    const double share = samples() > 0 ? double(rows.size()) / double(samples()) : 1.0;
    ENGRAM_ASSIGN(
        const LeftOut left_out,
        LeftOut::create(kernel, factored.kept().classes(), classes, current->lambda * share,
                        kTeachingSamples, impl_->blend(), factored.feature_rows()));
    Teaching teaching;
    teaching.report = judge_teaching(left_out, counts_of(statistics.classes().all()));
    teaching.samples = samples();
    teaching.selected = left_out.size();
    for (const DuplicatePair& pair : find_duplicates(kernel)) {
      const auto first = std::size_t(rows[std::size_t(pair.first)]);
      const auto second = std::size_t(rows[std::size_t(pair.second)]);
      teaching.duplicates.push_back({kept.ids()[first], kept.ids()[second], kept.classes()[first],
                                     kept.classes()[second], pair.similarity});
    }
    return teaching;
  } catch (const std::bad_alloc&) {
    return Status(Code::out_of_memory, "The machine has no memory left to judge what was taught.");
  }
}

}  // namespace engram
