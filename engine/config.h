// What a learner is made of. Fixed when the learner is created, kept in its state for ever.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/project.h"
#include "platform/status.h"

namespace engram {

enum class Arithmetic : std::uint8_t {
  exact,     // whole numbers: quantised features, sign weights, small hidden units (the default)
  floating,  // the paper to the letter
};
enum class Weights : std::uint8_t { bipolar, gaussian };
enum class LambdaRule : std::uint8_t {
  fixed,  // config.lambda
  paper,  // 80:20 split of the task; G and C of all that came before plus the 80 %
  code,   // what the authors' program does: G and C of the task's own 80 % only
  loo,    // leave-one-out error over everything learned (the default)
  gcv,    // generalised cross-validation over everything learned
};
// Whether the rule needs the samples of the task that ends.
constexpr bool splits_task(LambdaRule rule) {
  return rule == LambdaRule::paper || rule == LambdaRule::code;
}

// What a readout is made of (engine/score_blend.h, engine/readout_kinds.h).
enum class ReadoutKind : std::uint8_t {
  blend,     // ridge regression and nearest class means together (the default)
  ridge,     // ridge regression alone, as in the paper
  mean,      // nearest class mean
  lda,       // linear discriminant; only on request, not of a learner
  balanced,  // ridge regression in which all classes weigh the same; only on request
};

inline constexpr int kMinHidden = 100;
inline constexpr int kMaxHidden = 20000;

struct LearnerConfig {
  std::string backbone;  // of which the features are (state_backbone.h): others make no sense here
  int features = 0;      // L
  int hidden = 2000;     // M, 100..20 000; 0: no projection, h = f (floating only)

  Arithmetic arithmetic = Arithmetic::exact;
  Weights weights = Weights::bipolar;              // exact: always bipolar
  Nonlinearity nonlinearity = Nonlinearity::relu;  // exact: always relu
  std::uint64_t seed = 1;                          // of W

  float feature_scale = 1.0f;   // exact: q = round(f * feature_scale); from the backbone's card
  std::int32_t hidden_mul = 1;  // exact: gain of activate in 1/65536; from the backbone's card
  std::int32_t hidden_max = 31;

  LambdaRule lambda_rule = LambdaRule::loo;
  double lambda = 1e4;           // used by LambdaRule::fixed
  std::uint64_t split_seed = 1;  // of the 80:20 split

  ReadoutKind readout = ReadoutKind::blend;

  // Whether encoded samples may be kept beyond their task: as long as they are few, they cost less
  // than G does, and allow more. false: nothing that is kept can be traced back to a sample.
  bool keep_features = true;

  // Width of the vectors that G is made of.
  int hidden_units() const { return hidden == 0 ? features : hidden; }
  bool operator==(const LearnerConfig&) const = default;
};

// ok, or a sentence that names the field, its value and what is allowed.
Status validate(const LearnerConfig& config);

// JSON text with every field by name. parse_config refuses unknown fields and wrong types. A text
// without keep_features is of a version that kept none: false; one without readout gets a blend at the
// next end of a task.
std::string to_json(const LearnerConfig& config);
// Without keep_features and readout: what a digest of the statistics covers, however they are held.
std::string identity_json(const LearnerConfig& config);
Result<LearnerConfig> parse_config(const std::string& json);

// "exact" / "float", "bipolar" / "gaussian", "relu" / "square" / "none", "fixed" / "paper" /
// "code" / "loo" / "gcv", "blend" / "ridge" / "mean" / "lda" / "balanced".
const char* name(Arithmetic value);
const char* name(Weights value);
const char* name(Nonlinearity value);
const char* name(LambdaRule value);
const char* name(ReadoutKind value);
Result<Arithmetic> parse_arithmetic(const std::string& text);
Result<Weights> parse_weights(const std::string& text);
Result<Nonlinearity> parse_nonlinearity(const std::string& text);
Result<LambdaRule> parse_lambda_rule(const std::string& text);
Result<ReadoutKind> parse_readout_kind(const std::string& text);

}  // namespace engram
