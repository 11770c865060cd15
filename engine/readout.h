// The readout: what is needed to turn hidden units into scores, and how it was found.
//
//     Ridge = (G + lambda I)^-1 C                         dense form
//     Ridge = HT A,  A = (H HT + lambda I)^-1 Y           factored form, the same numbers
//
// and Wo, with weights Wf of the features beside it, is what a learner makes of it
// (engine/score_blend.h). Scores: engine/readout_scores.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/confidence.h"
#include "engine/prequential.h"
#include "platform/buffer_allocator.h"
#include "platform/status.h"

namespace engram {

class Statistics;
struct LeverageProbes;  // engine/leverage.h

// What end_task did, for people and logs.
struct ReadoutReport {
  double lambda = 0;
  std::string rule;                // a LambdaRule's name, "loo by gcv", "replayed"
  std::vector<double> candidates;  // lambdas tried, ascending; empty for a fixed one
  std::vector<double> losses;      // mean squared error of each on the held-out samples; NaN: no
                                   // factor exists at this lambda
  std::string note;                // empty, or a sentence: why the rule fell back, what to do
  double seconds = 0;
};

struct Readout {
  std::vector<std::string> classes;  // one per row of weights
  // In memory that the device reaches and every thread may read: a frame copies nothing.
  SharedVector<float> weights;            // (K, M), row-major: Wo
  SharedVector<float> feature_weights{};  // (K, L), row-major: Wf; empty: none
  std::vector<float> bias{};              // (K), added to the scores; empty: none. Of kind lda only
  int hidden_units = 0;                   // M
  double lambda = 0;
  std::int64_t samples = 0;  // learned when it was solved

  // What its scores mean (engine/readout_confidence.h).
  Confidence confidence{};
  // Null: leverage is not needed. Shared by readouts that follow from one another between two
  // solves.
  std::shared_ptr<const LeverageProbes> probes{};
  Prequential said_before{};  // dense form: examples so far
};

// The readout whose weights are Ridge. Factors G + lambda I, or the kernel matrix plus lambda I, (into the upper triangle of the same
// buffer) and solves. Where there is no factor at this lambda, ten times it is tried, and so on;
// `note` then says so. invalid_argument: nothing was learned. bad_data: no lambda works; G and C
// are as they were.
// `factored`: the factor at `lambda` is there already; dual (K, N): and so is the solution on the
// kernel, unless it is empty.
Result<Readout> solve_readout(Statistics& statistics, double lambda, std::string& note,
                              bool factored = false, std::vector<float> dual = {});

}  // namespace engram
