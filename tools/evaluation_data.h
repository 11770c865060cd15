// Where the samples of an evaluation come from: folders of pictures, or files of features.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/feature_extractor.h"
#include "engine/protocol.h"
#include "tools/console.h"
#include "tools/feature_file.h"

namespace engram {

// What the user named. A folder holds a folder per class. With domains, there is one such folder
// per domain: FOLDER/domain, or, where the path has a {}, the path with the domain in its place.
struct DataSource {
  std::string train, test;           // both folders, or both feature files
  std::vector<std::string> domains;  // names and order; empty: the folders, or the file's own order
  bool by_domain = false;            // folders are domains first
};

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
