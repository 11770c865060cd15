// Whether a backbone may compute in half precision: the same labels for the same pictures?
//
// The model is rewritten in half (platform/onnx_half.h) and run on the CPU with every half rounded
// as a GPU rounds it. A learner is taught features in float, as a state made on the CPU was, and
// asked twice about each test picture: with features in float and in half.
#pragma once

#include <cstdint>
#include <string>

#include "engine/learner.h"
#include "engine/model_store.h"
#include "platform/status.h"
#include "tools/console/console.h"
#include "tools/features/feature_file.h"

namespace engram {

struct HalfTrial {
  int half_operations = 0, float_operations = 0, casts = 0;
  std::int64_t pictures = 0;     // tested
  std::int64_t same = 0;         // given the same label
  std::int64_t right_float = 0;  // given the right label
  std::int64_t right_half = 0;
  std::int64_t values = 0;       // features in all, of test pictures
  std::int64_t other_bytes = 0;  // of these, quantised (q of `exact`) to another byte
  int largest_step = 0;          // the largest difference of two such bytes
  double agreement() const { return pictures == 0 ? 0 : double(same) / double(pictures); }
};

// `full`, `half`: features of the same test pictures; `learner`: has ended a task, and its readout
// knows test.classes by name. Adds to `trial`. bad_data: a feature in half is no finite number.
Status compare_labels(Learner& learner, const FeatureSet& full, const FeatureSet& half,
                      HalfTrial& trial);

// Folders with a folder of pictures per class.
struct HalfTrialSource {
  std::string train, test;
  int threads = 0;
};
Result<HalfTrial> try_half(const StoredModel& model, const HalfTrialSource& source,
                           const Console& console);

}  // namespace engram
