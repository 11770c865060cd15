// Features of pictures in folders: a folder per class, or a folder per domain and in it one per
// class.
#pragma once

#include <string>
#include <vector>

#include "engine/feature_extractor.h"
#include "tools/console/console.h"
#include "tools/features/feature_file.h"

namespace engram {

// What the user named. A folder holds a folder per class. With domains, there is one such folder
// per domain: FOLDER/domain, or, where the path has a {}, the path with the domain in its place.
struct DataSource {
  std::string train, test;           // both folders, or both feature files
  std::vector<std::string> domains;  // names and order; empty: the folders, or the file's own order
  bool by_domain = false;            // folders are domains first
};

// Pictures that cannot be read are left out, warned of, and added to `skipped`. `what` names the
// progress bar.
Result<FeatureSet> read_feature_tree(const DataSource& source, const std::string& path,
                                     const char* what, FeatureExtractor& extractor,
                                     const Console& console, std::int64_t& skipped);

}  // namespace engram
