#include "tools/evaluate/evaluation_data.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "platform/steady_time.h"
#include "tools/console/terminal.h"
#include "tools/console/units.h"
#include "tools/features/feature_tree.h"

namespace engram {
namespace {

// Numbers for names, in the order in which they are first asked for.
class Numbering {
 public:
  explicit Numbering(const std::vector<std::string>& names) : names_(names) {
    for (std::size_t i = 0; i < names.size(); ++i) index_[names[i]] = int(i);
  }
  int find(const std::string& name) const {
    const auto found = index_.find(name);
    return found == index_.end() ? -1 : found->second;
  }
  int number(const std::string& name) {
    const auto [found, is_new] = index_.emplace(name, int(names_.size()));
    if (is_new) names_.push_back(name);
    return found->second;
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::map<std::string, int> index_;
};

// Domains in the order that the user wants, of both sets. refused: a domain nobody has.
Status align_domains(const std::vector<std::string>& wanted, FeatureSet& train, FeatureSet& test) {
  Numbering domains(wanted.empty() ? train.domains : wanted);
  const std::size_t named = domains.names().size();
  for (FeatureSet* set : {&train, &test}) {
    for (int& domain : set->domain) domain = domains.number(set->domains[std::size_t(domain)]);
  }
  if (!wanted.empty() && domains.names().size() > named) {
    return Status(Code::invalid_argument,
                  fmt::format("--domains leaves out \"{}\", which has samples.",
                              printable(domains.names()[named])));
  }
  train.domains = test.domains = domains.names();
  return {};
}

// Leaves the classes that have training samples, in their order; returns how many test rows went.
std::int64_t align_classes(FeatureSet& train, FeatureSet& test) {
  std::vector<bool> used(train.classes.size());
  for (const int k : train.y) used[std::size_t(k)] = true;
  std::vector<std::string> kept;
  for (std::size_t k = 0; k < used.size(); ++k) {
    if (used[k]) kept.push_back(train.classes[k]);
  }
  const Numbering classes(kept);
  for (int& k : train.y) k = classes.find(train.classes[std::size_t(k)]);
  int rows = 0;
  for (int i = 0; i < test.rows(); ++i) {
    const int k = classes.find(test.classes[std::size_t(test.y[std::size_t(i)])]);
    if (k < 0) continue;
    if (rows != i) {
      std::copy_n(test.view().row(i), test.width,
                  test.x.data() + std::size_t(rows) * std::size_t(test.width));
    }
    if (!test.domain.empty()) test.domain[std::size_t(rows)] = test.domain[std::size_t(i)];
    test.y[std::size_t(rows++)] = k;
  }
  const std::int64_t left_out = test.rows() - rows;
  test.y.resize(std::size_t(rows));
  test.x.resize(std::size_t(rows) * std::size_t(test.width));
  if (!test.domain.empty()) test.domain.resize(std::size_t(rows));
  train.classes = test.classes = kept;
  return left_out;
}

}  // namespace

ProtocolData EvaluationData::view() const {
  return {train.view(),  train.y,      test.view(), test.y,
          train.classes, train.domain, test.domain, train.domains};
}

Result<EvaluationData> read_evaluation_data(const DataSource& source,
                                            const OpenExtractor& open_extractor,
                                            const Console& console) {
  EvaluationData data;
  double start = seconds_now();
  if (is_feature_file(source.train) != is_feature_file(source.test)) {
    return Status(Code::invalid_argument,
                  "--train and --test must both be folders of pictures, or both feature files.");
  }
  if (is_feature_file(source.train)) {
    ENGRAM_ASSIGN(data.train, read_feature_file(source.train, FeaturePart::train));
    ENGRAM_ASSIGN(data.test, read_feature_file(source.test, FeaturePart::test));
  } else {
    ENGRAM_ASSIGN(FeatureExtractor * extractor, open_extractor());
    start = seconds_now();
    ENGRAM_ASSIGN(data.train, read_feature_tree(source, source.train, "train", *extractor, console,
                                                data.skipped));
    ENGRAM_ASSIGN(data.test, read_feature_tree(source, source.test, "test", *extractor, console,
                                               data.skipped));
  }
  if (data.train.rows() == 0) {
    return Status(Code::bad_data,
                  fmt::format("{}: no training picture could be read.", printable(source.train)));
  }
  if (data.train.width != data.test.width) {
    return Status(Code::bad_data,
                  fmt::format("{} has rows of {} features, {} of {}.", printable(source.train),
                              data.train.width, printable(source.test), data.test.width));
  }
  ENGRAM_TRY(align_domains(source.domains, data.train, data.test));
  if (const std::int64_t left_out = align_classes(data.train, data.test); left_out > 0) {
    console.warn(fmt::format("{}: {} of classes without a training sample left out.",
                             printable(source.test),
                             plural(left_out, "test sample", "test samples")));
  }
  if (data.test.rows() == 0) {
    return Status(Code::bad_data, fmt::format("{}: no test sample of a class in {} could be read.",
                                              printable(source.test), printable(source.train)));
  }
  data.seconds = seconds_now() - start;
  return data;
}

}  // namespace engram
