// Examples of known and unknown things, made from learned samples alone.
//
// A sample is *known* to a readout that learned its class without it, and *unknown* to one that
// never saw its class. Both readouts' scores follow exactly from the kernel Kk = H Ht, without
// training again. With P = (Kk + lambda I)^-1 and A = P Y (Y one-hot, N x K):
//
//     leave one out:     s_i = y_i - A_i / P_ii              leverage  1 / (lambda P_ii) - 1
//     leave a class out: s_b = Y_b - B A_b,  B = (P_bb)^-1   leverage  diag(B) / lambda - 1
//
// where b are the rows of the class, and leverage is h^T (G + lambda I)^-1 h with the G of that
// readout, which never holds the sample itself. The left-out class has no score.
//
// Outcomes that are defined but have no example: a class of one sample has no known example (the
// readout without it never saw its class); fewer than three classes have no unknown one (a readout
// of one class scores everything alike, and the margin means nothing).
//
// Cost. n^3 + n^2 K in double for n = min(N, limit) samples. Beyond the limit a sub-problem stands
// for the whole: about as many samples of each class, spread evenly over the order in which they
// were learned, and lambda n / N.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/score_summary.h"
#include "kernels/gram_view.h"
#include "platform/status.h"

namespace engram {

constexpr int kNoveltySamples = 1024;  // 1 G operations in double: tens of milliseconds

struct NoveltyExamples {
  std::vector<int> rows;              // of the kernel that were used, ascending
  std::vector<ScoreSummary> known;    // of those rows whose class has another sample among them
  std::vector<ScoreSummary> unknown;  // of all those rows
};

// kernel: G below the diagonal is Kk (N, N); the factor above is not looked at. classes (N),
// 0..class_count-1. bad_data: Kk + lambda I has no factor even in double.
Result<NoveltyExamples> novelty_examples(const GramView& kernel,
                                         std::span<const std::int32_t> classes, int class_count,
                                         double lambda, int limit = kNoveltySamples);

// At most `limit` rows: every class gets the same share, what small classes leave goes to larger
// ones, and within a class rows are spread evenly. Ascending. A function of `classes` alone.
std::vector<int> stratified_rows(std::span<const std::int32_t> classes, int class_count, int limit);

// The area under the ROC curve: how often a random `high` exceeds a random `low`, ties count half.
// 0.5 when either is empty.
double area_under_roc(std::span<const float> high, std::span<const float> low);

}  // namespace engram
