// Where the samples of an evaluation come from: folders of pictures, or files of features.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/feature_extractor.h"
#include "engine/protocol.h"
#include "tools/console/console.h"
#include "tools/features/feature_file.h"
#include "tools/features/feature_tree.h"

namespace engram {

struct EvaluationData {
  FeatureSet train, test;     // with the same classes and domains
  std::int64_t skipped = 0;   // pictures that could not be read
  double seconds = 0;         // for reading and, of pictures, features
  ProtocolData view() const;  // borrows
};

// `open_extractor` is called for pictures only. Classes are those of the training samples; test
// samples of other classes are left out, with a warning.
using OpenExtractor = std::function<Result<FeatureExtractor*>()>;
Result<EvaluationData> read_evaluation_data(const DataSource& source,
                                            const OpenExtractor& open_extractor,
                                            const Console& console);

}  // namespace engram
