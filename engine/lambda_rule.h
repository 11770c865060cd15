// How lambda is chosen at the end of a task (RanPAC, appendix C.1, and the authors' program).
//
// Candidates are 10^-8 ... 10^8 where h is the paper's. In `exact` G is unit^2 times as large, for h is
// about unit = feature_scale * hidden_mul / 65536 times the h of the features themselves: there they
// are unit^2 * 10^k, 17 decades from 10^-8 on, so that each means what one of the paper's means.
// A seeded random 80:20 split of the task's samples; each
// candidate's readout is made without the 20 % and judged by the mean squared error of its scores
// against the one-hot labels on them, over all classes known.
//     paper   from all that was learned, minus the 20 %
//     code    from the task's own 80 % alone, as the authors' program does
// The other rules judge by everything learned, so that neither order nor tasks matter:
//     loo     leave-one-out error on the kernel matrix (engine/leave_one_out.h); in the dense form,
//             where the samples are gone, estimated by gcv
//     gcv     generalised cross-validation (engine/gcv.h)
// The smallest of equally good candidates wins.
//
// Numerics. A float factor of G + lambda I means nothing below about 1e-6 of G's largest
// eigenvalue: such candidates are not tried, their loss is NaN, and NaN never wins. On a kernel matrix
// (the factored form, and `code` with a task of at most M / 2 samples) the factor is in double;
// otherwise in float by the backend's kernels. Cost. One factorisation per candidate tried.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "engine/config.h"
#include "engine/kept_samples.h"
#include "engine/projection.h"
#include "engine/statistics.h"
#include "platform/status.h"

namespace engram {

inline constexpr double kNoLoss = std::numeric_limits<double>::quiet_NaN();  // it never wins

struct LambdaChoice {
  double lambda = 0;
  std::vector<double> candidates;  // that were tried, ascending; lambda may lie between them
  std::vector<double> losses;      // kNoLoss: not usable
  std::string note;                // empty, or why the rule fell back
  bool factored = false;           // the factor at `lambda` is in the upper triangle already
  std::vector<float> dual;         // (K, N): with the factor of a kernel, its solution; or empty
};

// Where there is nothing to choose by: this one, within the range of lambdas, and a note.
LambdaChoice without_choice(double lambda, const char* why);

struct LambdaProblem {
  const LearnerConfig& config;
  const Projection& projection;
  const ProjectionScratch& scratch;
  Statistics& statistics;  // the factor of its GramView is used as scratch
  // Where the samples of the task are: task_count of `samples`, from the task_first-th on.
  const KeptSamples& samples;
  int task_first = 0;
  int task_count = 0;
  int task_index = 0;              // of the split's seed
  std::optional<double> previous;  // lambda of the task before
};

std::vector<double> lambda_grid(const LearnerConfig& config);
// A task too small to be split, or without a usable candidate, gets a defined lambda and a note.
Result<LambdaChoice> choose_lambda(const LambdaProblem& problem);

// The first int(0.8 n) of this random order of 0..n-1 are learned, the rest is held out.
std::vector<int> split_order(int count, std::uint64_t seed, int task_index);

}  // namespace engram
