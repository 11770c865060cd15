// Options that say how a learner is made, and what they mean. (tools/commands/options.h asks for them.)
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/config.h"
#include "platform/status.h"

namespace engram {

// How a new learner is made. What is not given keeps LearnerConfig's default.
struct LearnerOptions {
  std::optional<int> hidden;
  std::optional<std::string> arithmetic;
  std::optional<std::string> weights;
  std::optional<std::string> nonlinearity;
  std::optional<std::string> lambda;  // a rule, or a number
  std::optional<std::string> readout;
  std::optional<std::uint64_t> seed;
  std::optional<std::string> keep_features;  // yes or no
};
// `base` with what was given. `float` alone means Gaussian weights, as in the paper.
Result<LearnerConfig> apply(const LearnerOptions& options, LearnerConfig base);
// ok, or a sentence that names the first option that disagrees with an existing state: a learner is
// made once and for all.
Status check_agrees(const LearnerOptions& options, const LearnerConfig& existing,
                    const std::string& state);

}  // namespace engram
