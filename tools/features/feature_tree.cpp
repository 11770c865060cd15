#include "tools/features/feature_tree.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "tools/console/terminal.h"
#include "tools/pictures/picture_stream.h"
#include "tools/pictures/tree.h"

namespace engram {
namespace {

struct DomainFolder {
  std::string domain, folder;
};

Result<std::vector<DomainFolder>> domain_folders(const DataSource& source,
                                                 const std::string& path) {
  if (!source.by_domain) return std::vector<DomainFolder>{{"", path}};
  namespace fs = std::filesystem;
  std::vector<std::string> domains = source.domains;
  const std::size_t place = path.find("{}");
  if (domains.empty()) {
    if (place != std::string::npos) {
      return Status(
          Code::invalid_argument,
          fmt::format("{}: {{}} stands for a domain; name them with --domains.", printable(path)));
    }
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(path, error)) {
      if (entry.is_directory(error)) domains.push_back(entry.path().filename().string());
    }
    std::sort(domains.begin(), domains.end());
  }
  std::vector<DomainFolder> folders;
  for (const std::string& domain : domains) {
    std::string folder = (fs::path(path) / domain).string();
    if (place != std::string::npos) folder = std::string(path).replace(place, 2, domain);
    folders.push_back({domain, folder});
  }
  if (folders.empty()) {
    return Status(Code::not_found,
                  fmt::format("{}: holds no folder; a folder per domain, and in it one per class, "
                              "was expected.",
                              printable(path)));
  }
  return folders;
}

}  // namespace

Result<FeatureSet> read_feature_tree(const DataSource& source, const std::string& path,
                                     const char* what, FeatureExtractor& extractor,
                                     const Console& console, std::int64_t& skipped) {
  ENGRAM_ASSIGN(const std::vector<DomainFolder> folders, domain_folders(source, path));
  std::vector<LabelledPath> items;
  std::vector<int> domain_of_item;
  FeatureSet set;
  for (std::size_t d = 0; d < folders.size(); ++d) {
    ENGRAM_ASSIGN(const Tree tree, read_tree(folders[d].folder));
    for (const SkippedPicture& one : tree.skipped) console.warn(one.why.what());
    skipped += std::ssize(tree.skipped);
    items.insert(items.end(), tree.items.begin(), tree.items.end());
    domain_of_item.resize(items.size(), int(d));
    if (source.by_domain) set.domains.push_back(folders[d].domain);
  }
  std::vector<std::string> paths, labels;
  for (const LabelledPath& item : items) {
    paths.push_back(item.path);
    labels.push_back(item.label);
  }
  ENGRAM_ASSIGN(FeatureTable table, read_features(extractor, paths, what, console));
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  for (const std::size_t index : table.indices) {
    const auto found = std::lower_bound(labels.begin(), labels.end(), items[index].label);
    set.y.push_back(int(found - labels.begin()));
    if (source.by_domain) set.domain.push_back(domain_of_item[index]);
    set.paths.push_back(std::move(paths[index]));
  }
  set.x = std::move(table.values);
  set.width = table.width;
  set.classes = std::move(labels);
  skipped += std::ssize(table.skipped);
  return set;
}

}  // namespace engram
