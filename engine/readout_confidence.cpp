#include "engine/readout_confidence.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/left_out_means.h"
#include "engine/leverage.h"
#include "engine/novelty.h"
#include "kernels/kernels.h"

namespace engram {
namespace {

constexpr std::size_t kTableSamplesAtOnce = 64;

// Leave-one-out scores of a few samples with everything else learned, by the factor in the kernel.
std::vector<ScoreSummary> leave_each_out(const Statistics& statistics, double lambda,
                                         const ScoreBlend& blend) {
  const FactoredStatistics& factored = statistics.factored();
  const GramView kernel = factored.kernel().view();
  const std::span<const std::int32_t> classes = factored.kept().classes();
  const int class_count = statistics.classes().size();
  const std::vector<int> rows = stratified_rows(classes, class_count, kTableSamples);
  std::vector<int> sizes(static_cast<std::size_t>(class_count));
  for (const std::int32_t label : classes) ++sizes[std::size_t(label)];

  const auto n = std::size_t(kernel.size);
  std::vector<int> all(n);
  std::iota(all.begin(), all.end(), 0);
  const LeftOutMeans means(factored.feature_rows(), std::move(all),
                           {classes.begin(), classes.end()}, blend, class_count);
  std::vector<float> inverse(kTableSamplesAtOnce * n);  // rows of P
  std::vector<float> scores(static_cast<std::size_t>(class_count));
  std::vector<double> dual(static_cast<std::size_t>(class_count));
  std::vector<ScoreSummary> summaries;
  for (std::size_t first = 0; first < rows.size(); first += kTableSamplesAtOnce) {
    const std::size_t count = std::min(kTableSamplesAtOnce, rows.size() - first);
    std::fill(inverse.begin(), inverse.end(), 0.0F);
    for (std::size_t i = 0; i < count; ++i) inverse[i * n + std::size_t(rows[first + i])] = 1.0F;
    const MatrixView<float> columns{inverse.data(), int(count), kernel.size, kernel.size};
    if (!statistics.kernels().cholesky_solve(Stream{}, kernel, columns).ok()) return {};
    for (std::size_t i = 0; i < count; ++i) {
      const auto row = std::size_t(rows[first + i]);
      const int own = classes[row];
      const double pivot = inverse[i * n + row];
      if (sizes[std::size_t(own)] < 2 || !(pivot > 0)) continue;
      std::fill(dual.begin(), dual.end(), 0.0);
      for (std::size_t j = 0; j < n; ++j) dual[std::size_t(classes[j])] += inverse[i * n + j];
      for (std::size_t k = 0; k < dual.size(); ++k) {
        scores[k] = float((int(k) == own ? 1.0 : 0.0) - dual[k] / pivot);
      }
      means.blend({&rows[first + i], 1}, scores);
      const double leverage = std::max(0.0, 1.0 / (lambda * pivot) - 1.0);
      summaries.push_back(summarise(scores, own, float(leverage)));
    }
  }
  return summaries;
}

void fit_factored(const Statistics& statistics, const ScoreBlend& blend, Readout& readout) {
  const FactoredStatistics& factored = statistics.factored();
  NoveltyExamples examples;
  {
    const auto left_out = LeftOut::create(factored.kernel().view(), factored.kept().classes(),
                                          statistics.classes().size(), readout.lambda,
                                          kNoveltySamples, blend, factored.feature_rows());
    if (!left_out.ok()) return;
    examples = novelty_examples(left_out.value());
  }
  const bool all = factored.kernel().size() <= kNoveltySamples;
  const std::vector<ScoreSummary> table =
      all ? examples.known : leave_each_out(statistics, readout.lambda, blend);
  readout.confidence = fit_confidence(examples.known, examples.unknown, table);
  for (const auto& kind : {table, examples.unknown}) {
    for (ScoreSummary one : kind) {
      one.samples = readout.samples;
      readout.said_before.add(one);
    }
  }
}

void fit_dense(const Readout* before, Readout& readout) {
  const auto fewest = std::size_t(kFewestExamples);
  const std::vector<ScoreSummary> known =
      newer(readout.said_before.known(), readout.samples, fewest);
  std::vector<ScoreSummary> unknown = newer(readout.said_before.unknown(), readout.samples, fewest);
  if (unknown.size() < fewest) unknown.clear();
  if (known.size() >= fewest) {
    readout.confidence = fit_confidence(known, unknown, known);
  } else if (before != nullptr) {
    readout.confidence = before->confidence;
  }
}

}  // namespace

void fit_readout_confidence(const Statistics& statistics, const Prequential& said_before,
                            std::span<const ScoreSummary> heard, const Readout* before,
                            const ScoreBlend& blend, Readout& readout) {
  const bool dense = statistics.form() == Form::dense;
  readout.confidence = {};
  readout.probes = nullptr;
  readout.said_before = {};
  if (dense) {
    readout.said_before = said_before;
    for (ScoreSummary one : heard) {
      one.samples = readout.samples;
      readout.said_before.add(one);
    }
    fit_dense(before, readout);
  } else {
    fit_factored(statistics, blend, readout);
  }
  // The dense form needs them for its examples, whether they help yet or not.
  if (!dense && !readout.confidence.known.uses_leverage) return;
  Result<LeverageProbes> probes = draw_probes(statistics, readout.lambda);
  if (probes.ok()) {
    readout.probes = std::make_shared<const LeverageProbes>(std::move(probes).value());
  } else if (readout.confidence.known.uses_leverage) {
    readout.confidence = {};
  }
}

}  // namespace engram
