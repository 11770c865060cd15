#include "tools/features/feature_file.h"

#include <map>

#include <fmt/format.h>

#include "engine/label.h"
#include "platform/file.h"
#include "tools/console/terminal.h"
#include "tools/features/npz.h"

namespace engram {
namespace {

constexpr std::int64_t kMostRows = 1 << 30;
constexpr std::int64_t kMostFeatures = 1 << 16;
constexpr std::size_t kMostNameBytes = 64 << 20;

Status refuse(const NpyView& array, const std::string& what) {
  return Status(Code::bad_data, fmt::format("{}: {}.", printable(array.name()), what));
}

Status take_features(const NpyView& array, FeatureSet& set) {
  if (array.shape().size() != 2 || array.count() == 0 || array.shape()[0] > kMostRows ||
      array.shape()[1] > kMostFeatures) {
    return refuse(array, fmt::format("its shape is {}; features are (rows, L), one row a picture",
                                     array.shape_text()));
  }
  set.width = int(array.shape()[1]);
  ENGRAM_ASSIGN(set.x, array.floats());
  return {};
}

Status check_count(const NpyView& array, std::int64_t rows) {
  if (array.count() == rows) return {};
  return refuse(array, fmt::format("its shape is {}, but there are {} rows of features",
                                   array.shape_text(), rows));
}

// Numbers the distinct values in ascending order; their texts become the names of the classes.
template <class Value>
void number_classes(const std::vector<Value>& values, FeatureSet& set) {
  std::map<Value, int> index;
  for (const Value& value : values) index.emplace(value, 0);
  for (auto& [value, number] : index) {
    number = int(set.classes.size());
    set.classes.push_back(fmt::format("{}", value));
  }
  for (const Value& value : values) set.y.push_back(index[value]);
}

Status take_labels(const NpyView& array, const std::vector<std::string>& class_names,
                   FeatureSet& set) {
  ENGRAM_TRY(check_count(array, std::int64_t(set.x.size()) / set.width));
  if (array.is_text()) {
    ENGRAM_ASSIGN(const std::vector<std::string> labels, array.texts());
    number_classes(labels, set);
    return {};
  }
  ENGRAM_ASSIGN(const std::vector<std::int64_t> labels, array.whole_numbers());
  if (class_names.empty()) {
    number_classes(labels, set);
    return {};
  }
  for (const std::int64_t label : labels) {
    if (label < 0 || label >= std::ssize(class_names)) {
      return refuse(array, fmt::format("label {} has no name: there are {} class names", label,
                                       class_names.size()));
    }
    set.y.push_back(int(label));
  }
  set.classes = class_names;
  return {};
}

template <class Value>
void number_domains(const std::vector<Value>& values, FeatureSet& set) {
  std::map<Value, int> index;
  for (const Value& value : values) {
    const auto [found, is_new] = index.emplace(value, int(set.domains.size()));
    if (is_new) set.domains.push_back(fmt::format("{}", value));
    set.domain.push_back(found->second);
  }
}

Status take_domains(const NpyView& array, FeatureSet& set) {
  ENGRAM_TRY(check_count(array, set.rows()));
  if (array.is_text()) {
    ENGRAM_ASSIGN(const std::vector<std::string> domains, array.texts());
    number_domains(domains, set);
  } else {
    ENGRAM_ASSIGN(const std::vector<std::int64_t> domains, array.whole_numbers());
    number_domains(domains, set);
  }
  return {};
}

Status check_classes(const FeatureSet& set, const std::string& path) {
  std::map<std::string, int> seen;
  for (const std::string& name : set.classes) {
    if (const Status status = check_label(name); !status.ok()) {
      return Status(Code::bad_data, fmt::format("{}: {}", printable(path), status.what()));
    }
    if (++seen[name] > 1) {
      return Status(Code::bad_data, fmt::format("{}: two classes have the name \"{}\".",
                                                printable(path), printable(name)));
    }
  }
  return {};
}

Result<FeatureSet> read_npz(const std::string& path, FeaturePart part) {
  ENGRAM_ASSIGN(const NpzFile file, NpzFile::open(path));
  const std::string ending = file.has("x") ? "" : part == FeaturePart::train ? "_train" : "_test";
  FeatureSet set;
  {
    ENGRAM_ASSIGN(const NpzArray x, file.read("x" + ending));
    ENGRAM_TRY(take_features(x.view, set));
  }
  std::vector<std::string> class_names;
  if (file.has("classes")) {
    ENGRAM_ASSIGN(const NpzArray classes, file.read("classes"));
    ENGRAM_ASSIGN(class_names, classes.view.texts());
  }
  ENGRAM_ASSIGN(const NpzArray y, file.read("y" + ending));
  ENGRAM_TRY(take_labels(y.view, class_names, set));
  if (file.has("domain" + ending)) {
    ENGRAM_ASSIGN(const NpzArray domain, file.read("domain" + ending));
    ENGRAM_TRY(take_domains(domain.view, set));
  }
  return set;
}

// Line k names class k; an absent file means that there are no names.
Result<std::vector<std::string>> read_class_names(const std::string& path) {
  const auto bytes = read_file(path, kMostNameBytes);
  std::vector<std::string> names;
  if (!bytes.ok()) {
    if (bytes.status().code() == Code::not_found) return names;
    return bytes.status();
  }
  std::string_view text(reinterpret_cast<const char*>(bytes.value().data()), bytes.value().size());
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    names.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return names;
}

Result<FeatureSet> read_npy(const std::string& path) {
  constexpr std::string_view kEnding = "_x.npy";
  if (!path.ends_with(kEnding)) {
    return Status(Code::invalid_argument,
                  fmt::format("{}: features without labels. Name the file NAME_x.npy, with the "
                              "labels in NAME_y.npy beside it, or save both in one .npz.",
                              printable(path)));
  }
  const std::string stem = path.substr(0, path.size() - kEnding.size());
  FeatureSet set;
  {
    ENGRAM_ASSIGN(const MappedFile x, MappedFile::open(path));
    ENGRAM_ASSIGN(const NpyView view, NpyView::parse(x.bytes(), path));
    ENGRAM_TRY(take_features(view, set));
  }
  ENGRAM_ASSIGN(const std::vector<std::string> class_names,
                read_class_names(stem + "_classes.txt"));
  ENGRAM_ASSIGN(const MappedFile y, MappedFile::open(stem + "_y.npy"));
  ENGRAM_ASSIGN(const NpyView view, NpyView::parse(y.bytes(), stem + "_y.npy"));
  ENGRAM_TRY(take_labels(view, class_names, set));
  return set;
}

}  // namespace

bool is_feature_file(const std::string& path) {
  return path.ends_with(".npz") || path.ends_with(".npy");
}

Result<FeatureSet> read_feature_file(const std::string& path, FeaturePart part) {
  const bool archive = path.ends_with(".npz");
  ENGRAM_ASSIGN(FeatureSet set, archive ? read_npz(path, part) : read_npy(path));
  ENGRAM_TRY(check_classes(set, path));
  return set;
}

}  // namespace engram
