// Learner::refresh: the readout of everything learned, from the one before it.
//
//   factored   the factor of the kernel matrix grows by the new samples    engine/instant_kernel.h
//   dense      Woodbury on the factor of the last solve                    engine/woodbury.h
//
// Where there is no factor of that solve (just loaded, just moved, too much learned since) a full
// solve makes one, and the next refresh is cheap again.
#include <algorithm>
#include <new>
#include <utility>

#include "engine/instant_kernel.h"
#include "engine/learner_impl.h"
#include "engine/readout_confidence.h"
#include "engine/readout_kinds.h"
#include "platform/device_staging.h"

namespace engram {
namespace {

constexpr int kMostAtOnce = 256;  // samples; beyond them a full solve costs about as much

}  // namespace

MatrixView<float> Learner::Impl::rows_of(SharedVector<float>& part) const {
  const int classes = statistics.classes().size(), units = config.hidden_units();
  part.resize(std::size_t(classes) * std::size_t(units));
  return {part.data(), classes, units, units};
}

void Learner::Impl::blend_into(const ScoreBlend& parts, Readout& readout) const {
  scale_ridge(parts, rows_of(readout.weights));
  write_mean_weights(parts, statistics.features().sums(), readout.feature_weights);
}

void Learner::Impl::forget_factor() {
  blended_by = {};
  ridge_part = {};
  readouts.clear();
  solved.reset();
  pending.clear();
  woodbury.clear();
  if (statistics.form() == Form::factored) statistics.factored().kernel().drop_factor();
}

Result<Readout> Learner::Impl::solve_kind(ReadoutKind kind, double lambda, std::string& note,
                                          bool factored, std::vector<float> dual) {
  forget_factor();
  ENGRAM_ASSIGN(Readout next, solve_readout(statistics, lambda, note, factored, std::move(dual)));
  const ScoreBlend parts = blend_of(kind);
  std::vector<ScoreSummary> heard;
  if (statistics.form() == Form::dense) {
    auto said = witnesses.hear(statistics, next, parts, *projection, scratch);
    if (said.ok()) heard = std::move(said).value();
    ridge_part = next.weights;
  }
  blend_into(parts, next);
  blended_by = parts;
  fit_readout_confidence(statistics, said_before, heard, readout.get(), parts, next);
  return next;
}

Result<std::shared_ptr<const Readout>> Learner::Impl::solve_all(double lambda, std::string& note,
                                                                bool factored,
                                                                std::vector<float> dual) {
  ENGRAM_ASSIGN(Readout next, solve_kind(config.readout, lambda, note, factored, std::move(dual)));
  if (statistics.form() == Form::dense) witnesses.clear();
  auto shared = std::make_shared<const Readout>(std::move(next));
  if (statistics.form() == Form::dense) solved = shared;
  return std::shared_ptr<const Readout>(std::move(shared));
}

std::shared_ptr<Readout> Learner::Impl::extended(const Readout& before) {
  // What it judges by stays that of the last solve; the next one has all examples.
  std::shared_ptr<Readout> readout = readouts.take();
  readout->bias.clear();
  readout->confidence = before.confidence;
  readout->probes = before.probes;
  readout->said_before = said_before;
  readout->classes = labels_of(statistics.classes().all());
  readout->hidden_units = before.hidden_units;
  readout->lambda = before.lambda;
  readout->samples = statistics.samples();
  return readout;
}

Result<std::shared_ptr<const Readout>> Learner::Impl::refresh_factored(const Readout& before) {
  FactoredStatistics& factored = statistics.factored();
  KernelMatrix& kernel = factored.kernel();
  const int known = int(before.samples), fresh = kernel.size() - known;
  // Where ridge has no part in the readout it cannot be taken from it again.
  if (!kernel.has_factor(before.lambda, before.samples) || config.readout == ReadoutKind::mean ||
      fresh > kMostAtOnce) {
    return std::shared_ptr<const Readout>();
  }
  const int units = config.hidden_units();
  std::vector<float> rows(std::size_t(fresh) * std::size_t(units));
  const MatrixView<float> h{rows.data(), fresh, units, units};
  factored.kept().widen(known, h);
  const InstantKernel problem{statistics.kernels(), before.lambda, kernel.view(), known,
                              [&](MatrixView<const float> weights, MatrixView<float> sums) {
                                return factored.combine(weights, sums);
                              }};
  std::shared_ptr<Readout> readout = extended(before);
  const ScoreBlend parts = blend();
  const Status learned =
      learn_at_once(problem, h, factored.kept().classes().subspan(std::size_t(known)),
                    {{before.weights.data(), int(before.classes.size()), units, units},
                     blended_by,
                     rows_of(readout->weights),
                     parts});
  if (learned.code() == Code::bad_data) return std::shared_ptr<const Readout>();
  ENGRAM_TRY(learned);
  kernel.set_factor(before.lambda);  // from here on a failure means a full solve
  write_mean_weights(parts, statistics.features().sums(), readout->feature_weights);
  blended_by = parts;
  return std::shared_ptr<const Readout>(std::move(readout));
}

Result<std::shared_ptr<const Readout>> Learner::Impl::refresh_dense(const Readout& before) {
  if (solved == nullptr || solved->lambda != before.lambda ||
      solved->samples + pending.size() != statistics.samples()) {
    return std::shared_ptr<const Readout>();
  }
  const GramView gram = statistics.dense().gram();
  while (woodbury.pending() < pending.size()) {
    const int first = woodbury.pending();
    const int count = std::min({scratch.h.rows, pending.size() - first,
                                KeptSamples::kBlockRows - first % KeptSamples::kBlockRows});
    const MatrixView<float> h = scratch.h.row_range(0, count);
    ENGRAM_TRY(projection->from_rows(pending.row(first), scratch, h));
    ENGRAM_TRY(
        woodbury.add(gram, h, pending.classes().subspan(std::size_t(first), std::size_t(count))));
  }
  const MatrixView<const float> base{ridge_part.data(), int(solved->classes.size()),
                                     solved->hidden_units, solved->hidden_units};
  std::shared_ptr<Readout> readout = extended(*solved);
  const MatrixView<float> weights = rows_of(readout->weights);
  ENGRAM_TRY(woodbury.solve(base, weights));
  blend_into(blend(), *readout);
  return std::shared_ptr<const Readout>(std::move(readout));
}

Result<Readout> Learner::readout_of(ReadoutKind kind) {
  const DeviceHold hold;
  const std::shared_ptr<const Readout> current = readout();
  if (current == nullptr) {
    return Status(Code::not_found, "No task has ended yet, so there is no lambda to solve with.");
  }
  if (kind == ReadoutKind::mean && !has_feature_sums()) {
    return Status(Code::not_supported, std::string("Class means cannot answer: the state has ") +
                                           kWithoutFeatureSums + ".");
  }
  try {
    ENGRAM_TRY(impl_->statistics.complete());
    std::string note;
    const bool blends = kind != ReadoutKind::lda && kind != ReadoutKind::balanced;
    impl_->forget_factor();
    Result<Readout> answer =
        blends ? impl_->solve_kind(kind, current->lambda, note, /*factored=*/false, {})
               : statistics_readout(kind, impl_->statistics, current->lambda);
    impl_->forget_factor();  // the parts are of another kind
    return answer;
  } catch (const std::bad_alloc&) {
    return Status(Code::out_of_memory, "The machine has no memory left for another readout.");
  }
}

Result<std::shared_ptr<const Readout>> Learner::refresh() {
  const DeviceHold hold;
  const std::shared_ptr<const Readout> before = readout();
  if (before == nullptr || before->samples == samples()) return before;
  try {
    ENGRAM_TRY(impl_->statistics.complete());
    ENGRAM_ASSIGN(std::shared_ptr<const Readout> next, form() == Form::factored
                                                           ? impl_->refresh_factored(*before)
                                                           : impl_->refresh_dense(*before));
    if (next == nullptr) {
      std::string note;
      ENGRAM_ASSIGN(next, impl_->solve_all(before->lambda, note, /*factored=*/false, {}));
    }
    ENGRAM_TRY(impl_->publish(next));
    return next;
  } catch (const std::bad_alloc&) {
    return Status(Code::out_of_memory,
                  "The machine has no memory left for a new readout. What was learned is kept, and "
                  "the readout before it answers on; close other programs.");
  }
}

}  // namespace engram
