// What `engram evaluate` is asked for, and the heads that follow from it.
#pragma once

#include <string>
#include <vector>

#include "engine/adapt_settings.h"
#include "engine/protocol.h"
#include "tools/evaluate/evaluation.h"
#include "tools/evaluate/evaluation_data.h"
#include "tools/learner_options.h"

namespace engram {

struct EvaluateOptions {
  DataSource source;
  std::string features;  // one .npz for both parts
  std::string out = "engram-report", protocol = "cil";
  std::vector<std::string> heads{"engram"};
  int tasks = 0;  // 0: 10, or as many as there are classes (task-free: 20, or as many as samples)
  int first = 0, increment = 0;
  bool no_shuffle = false;
  std::vector<std::uint32_t> class_seeds{1993};
  std::string long_tail;  // "60:3"
  int shots = 0;          // the same as N:N
  double shrinkage = kShrinkage;
  int queue = 0;
  std::string targets;
  float feature_scale = 0;      // 0: the card's, or measured
  std::int32_t hidden_mul = 0;  // 0: the same
  // Lists: every combination is run.
  std::vector<int> hidden;
  std::vector<std::string> lambdas, nonlinearities;
  std::vector<std::uint64_t> projection_seeds{1};
  double open_set = 0;     // share of the classes to hold out; 0: the other protocols
  double false_alarm = 5;  // in %, of open_set
  std::string phase1;      // method by which the backbone adapts to the first task; empty: frozen
  AdaptSettings phase1_settings;
  std::string phase1_head_start = "means";
  LearnerOptions learner;  // the rest of a learner
};

// One row, without runs, for every head with every M, lambda and nonlinearity that mean something
// to it. invalid_argument: a word that is no head, a number out of range.
Result<std::vector<EvaluationRow>> choose_rows(const EvaluateOptions& options);
// Everything that does not depend on the row.
Result<ProtocolOptions> protocol_options(const EvaluateOptions& options, int classes);
// Before features are computed: whether the protocol can be made of what the training folder lists.
// Pictures that cannot be read may still leave too few. Of feature files and domains it knows nothing.
Status check_schedule(const EvaluateOptions& options);

}  // namespace engram
