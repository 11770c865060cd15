// How long a picture takes in several backbones, taken in turns: what else the machine does meanwhile
// falls on all of them alike.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "engine/model_store.h"
#include "platform/status.h"

namespace engram {

struct ModelTime {
  std::string model;
  int features = 0;
  double median = 0, least = 0;  // seconds from a picture to its features
  double ratio = 0;              // median of time / time of the first model in the same turn
};

// One picture at a time. turns >= 1; a turn more warms up and is not counted. Each turn begins with
// another model.
Result<std::vector<ModelTime>> bench_models(const std::vector<StoredModel>& models, int turns,
                                            int threads, const std::function<void()>& turn_done);

std::string model_times_text(const std::vector<ModelTime>& times, bool colour);
nlohmann::ordered_json model_times_json(const std::vector<ModelTime>& times);

}  // namespace engram
