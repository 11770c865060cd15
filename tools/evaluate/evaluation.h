// What `engram evaluate` found.
#pragma once

#include <string>
#include <vector>

#include "engine/adapt_training.h"
#include "engine/metrics.h"
#include "engine/protocol.h"
#include "tools/adapt/adapt_checkpoint.h"

namespace engram {

// One pass over all tasks.
struct EvaluationRun {
  std::uint32_t class_seed = 0;
  std::uint64_t projection_seed = 0;
  ProtocolResult result;
};

// A head with its settings, run for every seed.
struct EvaluationRow {
  std::string name;  // unique: "exact", "float, M 5000, code"
  Head head = Head::engram;
  LearnerConfig config;  // as used, but for the seed
  std::string series;    // `name` without M, for plots over M
  std::string phase1;    // method by which the backbone adapted to the first task; empty: frozen
  std::vector<EvaluationRun> runs;

  const ProtocolResult& first() const { return runs.front().result; }
  // Over the runs, of a value of the last task.
  template <class Value>
  MeanDeviation over_runs(const Value& value) const {
    std::vector<double> values;
    for (const EvaluationRun& run : runs) values.push_back(value(run.result));
    return mean_deviation(values);
  }
  MeanDeviation final_accuracy() const {
    return over_runs([](const ProtocolResult& r) { return r.tasks.back().average_accuracy; });
  }
};

// How the backbone adapted to the first task of one class order.
struct Phase1Run {
  std::uint32_t class_seed = 0;
  std::string adapted;  // "ssf, 20 epochs, 10 classes, 300 pictures, seed 1"
  int kept_epoch = 0;
  bool stopped_early = false;
  RightAnswers before, after;  // nearest class means on pictures of the first task, held out
  std::vector<AdaptEpoch> curves;
  double seconds = 0;  // of training
  float feature_scale = 0;
  std::int32_t hidden_mul = 0;
};

struct Evaluation {
  Protocol protocol = Protocol::cil;
  std::string model;        // name of the backbone; "features" when they came from files
  std::string train, test;  // as the user named them
  std::vector<std::string> classes, domains;
  std::int64_t train_samples = 0, test_samples = 0, skipped = 0;
  int features = 0;  // L
  float feature_scale = 0;
  std::int32_t hidden_mul = 0;
  bool measured_scale = false;  // on the training features, for want of a model card
  double extract_seconds = 0;   // for reading and, of pictures, features
  std::int64_t peak_bytes = 0;
  std::vector<Phase1Run> phase1;  // one per class order; empty: nothing adapted
  std::vector<EvaluationRow> rows;
};

}  // namespace engram
