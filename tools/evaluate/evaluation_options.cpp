#include "tools/evaluate/evaluation_options.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "engine/protocol_schedule.h"
#include "tools/console/terminal.h"
#include "tools/features/feature_file.h"
#include "tools/pictures/tree.h"

namespace engram {
namespace {

// "exact", "float" and "float-bipolar" are RanPAC in that arithmetic, "none" is ridge without
// projection; "ranpac" and the others are as the options say.
struct HeadWord {
  const char* word;
  Head head;
  const char* arithmetic;  // null: as the options say
  const char* weights;
};
constexpr HeadWord kWords[] = {{"exact", Head::ranpac, "exact", "bipolar"},
                               {"float", Head::ranpac, "float", "gaussian"},
                               {"float-bipolar", Head::ranpac, "float", "bipolar"},
                               {"none", Head::no_projection, nullptr, nullptr}};

// The values given, or one that says "as it comes".
template <class Value>
std::vector<std::optional<Value>> choices(const std::vector<Value>& given, bool matters) {
  if (!matters || given.empty()) return {std::nullopt};
  return {given.begin(), given.end()};
}

struct Variant {
  std::optional<int> hidden;
  std::optional<std::string> lambda, nonlinearity;
};

Result<EvaluationRow> make_row(const std::string& word, const Variant& variant,
                               const EvaluateOptions& options) {
  EvaluationRow row;
  row.series = word;
  LearnerOptions learner = options.learner;
  const auto known = std::find_if(std::begin(kWords), std::end(kWords),
                                  [&](const HeadWord& one) { return word == one.word; });
  if (known != std::end(kWords)) {
    row.head = known->head;
    if (known->arithmetic != nullptr) learner.arithmetic = known->arithmetic;
    if (known->weights != nullptr) learner.weights = known->weights;
  } else {
    const Result<Head> head = parse_head(word);
    if (!head.ok()) {
      std::string words;
      for (const HeadWord& one : kWords) words += fmt::format(", {}", one.word);
      return Status(head.status().code(),
                    fmt::format("{} Also{}.", head.status().what(), words.substr(1)));
    }
    row.head = head.value();
  }
  learner.hidden = variant.hidden;
  learner.lambda = variant.lambda;
  learner.nonlinearity = variant.nonlinearity;
  ENGRAM_ASSIGN(row.config, apply(learner, LearnerConfig{}));
  if (variant.nonlinearity && options.nonlinearities.size() > 1) {
    row.series += ", " + *variant.nonlinearity;
  }
  if (variant.lambda && options.lambdas.size() > 1) row.series += ", " + *variant.lambda;
  row.name = row.series;
  if (variant.hidden && options.hidden.size() > 1)
    row.name += fmt::format(", M {}", *variant.hidden);
  return row;
}

Status parse_long_tail(const std::string& text, ProtocolOptions& protocol) {
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, protocol.most_samples);
  if (first.ec == std::errc() && first.ptr != end && *first.ptr == ':') {
    const auto second = std::from_chars(first.ptr + 1, end, protocol.least_samples);
    if (second.ec == std::errc() && second.ptr == end && protocol.least_samples >= 1 &&
        protocol.least_samples <= protocol.most_samples) {
      return {};
    }
  }
  return Status(Code::invalid_argument,
                fmt::format("--long-tail {}: two numbers were expected, MOST:LEAST, as in 60:3.",
                            printable(text)));
}

}  // namespace

Result<std::vector<EvaluationRow>> choose_rows(const EvaluateOptions& options) {
  std::vector<EvaluationRow> rows;
  for (const std::string& word : options.heads) {
    ENGRAM_ASSIGN(const EvaluationRow plain, make_row(word, {}, options));
    const bool bends = projects(plain.head) && plain.config.arithmetic == Arithmetic::floating;
    for (const auto& hidden : choices(options.hidden, projects(plain.head))) {
      for (const auto& nonlinearity : choices(options.nonlinearities, bends)) {
        for (const auto& lambda : choices(options.lambdas, has_lambda(plain.head))) {
          ENGRAM_ASSIGN(EvaluationRow row, make_row(word, {hidden, lambda, nonlinearity}, options));
          rows.push_back(std::move(row));
        }
      }
    }
  }
  return rows;
}

Result<ProtocolOptions> protocol_options(const EvaluateOptions& options, int classes) {
  ProtocolOptions protocol;
  ENGRAM_ASSIGN(protocol.protocol, parse_protocol(options.protocol));
  const int usual = protocol.protocol == Protocol::task_free ? 0 : std::min(10, classes);
  protocol.tasks = options.tasks > 0 ? options.tasks : usual;
  protocol.first = options.first;
  protocol.increment = options.increment;
  if (options.first > 0 && options.tasks > 0) {
    return Status(Code::invalid_argument,
                  "--tasks and --first both say how large tasks are; give one of them.");
  }
  protocol.shuffle_classes = !options.no_shuffle;
  protocol.shrinkage = options.shrinkage;
  protocol.queue = options.queue;
  if (!options.long_tail.empty()) ENGRAM_TRY(parse_long_tail(options.long_tail, protocol));
  if (options.shots > 0) protocol.most_samples = protocol.least_samples = options.shots;
  return protocol;
}

Status check_schedule(const EvaluateOptions& options) {
  const std::string& train = options.source.train;
  ENGRAM_ASSIGN(ProtocolOptions protocol, protocol_options(options, 1));
  if (options.open_set > 0 || options.source.by_domain || is_feature_file(train)) return {};
  ENGRAM_ASSIGN(const Tree tree, read_tree(train));
  ProtocolData data{};
  data.classes = tree.labels();
  std::vector<int> y;
  for (const LabelledPath& item : tree.items) {
    const auto found = std::lower_bound(data.classes.begin(), data.classes.end(), item.label);
    y.push_back(int(found - data.classes.begin()));
  }
  data.y_train = y;
  ENGRAM_ASSIGN(protocol, protocol_options(options, int(data.classes.size())));
  return make_schedule(data, protocol).status();
}

}  // namespace engram
