// What an imported or merged state must have in common with the one it came from.
#pragma once

#include <string>
#include <vector>

#include "engine/store.h"

namespace engram::test {

// All but the id of the state and its sequence numbers.
struct StateView {
  std::string digest;
  std::vector<ClassInfo> classes;
  std::int64_t samples = 0, task_samples = 0, last_id = 0, exact_until = 0;
  int tasks = 0;
  Form form = Form::dense;
  std::vector<std::int64_t> ids;                // of the samples that are kept
  std::vector<std::byte> rows;                  // and their features
  std::vector<std::string> labels;              // and labels
  std::vector<std::int64_t> steps;              // their first ids
  SharedVector<float> weights, feature_weights;  // of the readout
  double lambda = 0;
  bool operator==(const StateView&) const = default;
};

inline StateView view(const Store& store) {
  const Learner& learner = store.learner();
  const LearnedSamples kept = learner.kept_samples();
  StateView view{learner.digest(),
                 learner.classes(),
                 learner.samples(),
                 learner.task_samples(),
                 learner.last_id(),
                 learner.exact_until(),
                 learner.tasks(),
                 learner.form(),
                 kept.ids,
                 kept.batch.rows,
                 kept.batch.labels,
                 {},
                 {},
                 {},
                 0};
  if (learner.config().keep_features) {
    const std::vector<Step> steps = store.steps().value();
    for (const Step& step : steps) view.steps.push_back(step.first_id);
  }
  if (const auto readout = learner.readout()) {
    view.weights = readout->weights;
    view.feature_weights = readout->feature_weights;
    view.lambda = readout->lambda;
  }
  return view;
}

}  // namespace engram::test
