// Two folder trees as the protocol wants them: features and class indices.
#pragma once

#include <string>
#include <vector>

#include "engine/protocol.h"
#include "tools/picture_stream.h"
#include "tools/session.h"

namespace engram {

struct EvaluationData {
  FeatureTable train, test;
  std::vector<int> y_train, y_test;  // into classes
  std::vector<std::string> classes;  // of the training pictures that could be read, sorted
  std::int64_t skipped = 0;          // pictures that could not be read
  ProtocolData view() const;         // borrows
};

// Test pictures of classes that have no training picture are left out, with a warning.
Result<EvaluationData> read_evaluation_data(FeatureExtractor& extractor, const std::string& train,
                                            const std::string& test, const Console& console);

}  // namespace engram
