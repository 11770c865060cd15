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

namespace engram {
namespace {

constexpr int kMostAtOnce = 256;  // samples; beyond them a full solve costs about as much

MatrixView<float> weights_of(Readout& readout) {
  return {readout.weights.data(), int(readout.classes.size()), readout.hidden_units,
          readout.hidden_units};
}

}  // namespace

void Learner::Impl::forget_factor() {
  solved.reset();
  pending.clear();
  woodbury.clear();
  if (statistics.form() == Form::factored) statistics.factored().kernel().drop_factor();
}

Result<std::shared_ptr<const Readout>> Learner::Impl::solve_all(double lambda, std::string& note,
                                                                bool factored,
                                                                std::vector<float> dual) {
  forget_factor();
  ENGRAM_ASSIGN(Readout next, solve_readout(statistics, lambda, note, factored, std::move(dual)));
  std::vector<ScoreSummary> heard;
  if (statistics.form() == Form::dense) {
    auto said = witnesses.hear(statistics, next, *projection, scratch);
    if (said.ok()) heard = std::move(said).value();
    witnesses.clear();
  }
  fit_readout_confidence(statistics, said_before, heard, readout.get(), next);
  auto shared = std::make_shared<const Readout>(std::move(next));
  if (statistics.form() == Form::dense) solved = shared;
  return std::shared_ptr<const Readout>(std::move(shared));
}

std::shared_ptr<Readout> Learner::Impl::extended(const Readout& before) const {
  // What it judges by stays that of the last solve; the next one has all examples.
  auto readout = std::make_shared<Readout>();
  readout->confidence = before.confidence;
  readout->probes = before.probes;
  readout->said_before = said_before;
  readout->classes = labels_of(statistics.classes().all());
  readout->hidden_units = before.hidden_units;
  readout->lambda = before.lambda;
  readout->samples = statistics.samples();
  readout->weights = before.weights;
  readout->weights.resize(readout->classes.size() * std::size_t(before.hidden_units));
  return readout;
}

Result<std::shared_ptr<const Readout>> Learner::Impl::refresh_factored(const Readout& before) {
  FactoredStatistics& factored = statistics.factored();
  KernelMatrix& kernel = factored.kernel();
  const int known = int(before.samples), fresh = kernel.size() - known;
  if (!kernel.has_factor(before.lambda, before.samples) || fresh > kMostAtOnce) {
    return std::shared_ptr<const Readout>();
  }
  const int units = config.hidden_units();
  std::vector<float> rows(std::size_t(fresh) * std::size_t(units));
  const MatrixView<float> h{rows.data(), fresh, units, units};
  factored.kept().widen(known, h);
  std::shared_ptr<Readout> readout = extended(before);
  const InstantKernel problem{statistics.kernels(), before.lambda, kernel.view(), known,
                              [&](MatrixView<const float> weights, MatrixView<float> sums) {
                                return factored.combine(weights, sums);
                              }};
  const Status learned = learn_at_once(
      problem, h, factored.kept().classes().subspan(std::size_t(known)), weights_of(*readout));
  if (learned.code() == Code::bad_data) return std::shared_ptr<const Readout>();
  ENGRAM_TRY(learned);
  kernel.set_factor(before.lambda);
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
  std::shared_ptr<Readout> readout = extended(*solved);
  const MatrixView<const float> base{solved->weights.data(), int(solved->classes.size()),
                                     solved->hidden_units, solved->hidden_units};
  ENGRAM_TRY(woodbury.solve(base, weights_of(*readout)));
  return std::shared_ptr<const Readout>(std::move(readout));
}

Result<std::shared_ptr<const Readout>> Learner::refresh() {
  const std::shared_ptr<const Readout> before = readout();
  if (before == nullptr || before->samples == samples()) return before;
  try {
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
