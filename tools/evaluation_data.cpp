#include "tools/evaluation_data.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "tools/terminal.h"
#include "tools/tree.h"
#include "tools/units.h"

namespace engram {
namespace {

int index_of(const std::vector<std::string>& sorted, const std::string& label) {
  const auto found = std::lower_bound(sorted.begin(), sorted.end(), label);
  return found != sorted.end() && *found == label ? static_cast<int>(found - sorted.begin()) : -1;
}

}  // namespace

ProtocolData EvaluationData::view() const {
  return {train.view(), y_train, test.view(), y_test, classes};
}

Result<EvaluationData> read_evaluation_data(FeatureExtractor& extractor, const std::string& train,
                                            const std::string& test, const Console& console) {
  ENGRAM_ASSIGN(const Tree train_tree, read_tree(train));
  ENGRAM_ASSIGN(Tree test_tree, read_tree(test));
  for (const Tree* tree : {&train_tree, static_cast<const Tree*>(&test_tree)}) {
    for (const std::string& note : tree->notes) console.warn(note);
  }
  EvaluationData data;
  ENGRAM_ASSIGN(data.train, read_features(extractor, train_tree.paths(), "train", console));
  std::set<std::string> labels;
  for (const std::size_t index : data.train.indices) labels.insert(train_tree.items[index].label);
  data.classes.assign(labels.begin(), labels.end());
  if (data.classes.empty()) {
    return Status(Code::bad_data,
                  fmt::format("{}: no training picture could be read.", printable(train)));
  }
  const auto without_training = [&](const LabelledPath& item) {
    return index_of(data.classes, item.label) < 0;
  };
  if (const auto left_out = std::erase_if(test_tree.items, without_training); left_out > 0) {
    console.warn(fmt::format("{}: {} of classes without a training picture left out.",
                             printable(test),
                             plural(std::int64_t(left_out), "test picture", "test pictures")));
  }
  ENGRAM_ASSIGN(data.test, read_features(extractor, test_tree.paths(), "test", console));
  if (data.test.indices.empty()) {
    return Status(Code::bad_data, fmt::format("{}: no test picture of a class in {} could be read.",
                                              printable(test), printable(train)));
  }
  for (const std::size_t i : data.train.indices) {
    data.y_train.push_back(index_of(data.classes, train_tree.items[i].label));
  }
  for (const std::size_t i : data.test.indices) {
    data.y_test.push_back(index_of(data.classes, test_tree.items[i].label));
  }
  data.skipped = std::ssize(data.train.skipped) + std::ssize(data.test.skipped);
  return data;
}

}  // namespace engram
