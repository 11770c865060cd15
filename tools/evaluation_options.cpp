#include "tools/evaluation_options.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "tools/terminal.h"

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
    ENGRAM_ASSIGN(row.head, parse_head(word));
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
  const int usual = protocol.protocol == Protocol::task_free ? 20 : std::min(10, classes);
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

void add_evaluate_options(CLI::App& command, EvaluateOptions& options) {
  command
      .add_option("--train", options.source.train,
                  "Training pictures, a folder per class; or a feature file")
      ->type_name("DIR|FILE");
  command
      .add_option("--test", options.source.test,
                  "Test pictures, the same folders; or a feature file")
      ->type_name("DIR|FILE");
  command
      .add_option("--features", options.features, "One .npz with x_train, y_train, x_test, y_test")
      ->type_name("FILE");
  command
      .add_option("--protocol", options.protocol,
                  "cil: classes in tasks (default). dil: domains in turn. task-free: a stream. "
                  "joint: all at once")
      ->type_name("NAME");
  command.add_option("--head", options.heads, "What to measure, with commas (default ranpac)")
      ->type_name("LIST")
      ->delimiter(',');
  command
      .add_option(
          "--tasks", options.tasks,
          "Tasks (default 10, at most one per class); of task-free: how often it is tested (20)")
      ->type_name("N")
      ->check(CLI::Range(1, 100000));
  command.add_option("--first", options.first, "Classes of the first task, where it differs")
      ->type_name("N")
      ->check(CLI::Range(1, 100000));
  command.add_option("--increment", options.increment, "With --first: classes of each later task")
      ->type_name("N")
      ->check(CLI::Range(1, 100000));
  command.add_flag("--no-shuffle", options.no_shuffle, "Classes in the order of their names");
  command
      .add_option("--seed", options.class_seeds,
                  "Order of the classes (default 1993); a list is averaged")
      ->type_name("LIST")
      ->delimiter(',');
  command
      .add_option("--open-set", options.open_set,
                  "Hold this share of the classes out and measure what is called unknown")
      ->type_name("SHARE")
      ->check(CLI::Range(0.001, 0.999));
  command
      .add_option("--false-alarm", options.false_alarm,
                  "With --open-set: known things that may be called unknown, in % (default 5)")
      ->type_name("PERCENT")
      ->check(CLI::Range(0.0, 100.0));
  command
      .add_option("--domains", options.source.domains,
                  "dil: names and order of the domains; {} in --train and --test stands for each")
      ->type_name("LIST")
      ->delimiter(',');
  command.add_option("--shots", options.shots, "At most N training samples of each class")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000));
  command
      .add_option("--long-tail", options.long_tail,
                  "Uneven classes: 60:3 leaves from 60 down to 3 training samples")
      ->type_name("RANGE");
  command
      .add_option("--targets", options.targets,
                  "Head regression: an .npz with embeddings (K, D) and names (K)")
      ->type_name("FILE");
  command.add_option("--shrinkage", options.shrinkage, "Heads lda and rp-lda (default 0.01)")
      ->type_name("X")
      ->check(CLI::Range(1e-12, 1e12));
  command
      .add_option("--queue", options.queue,
                  "Head ranpac: lambda by the newest N samples, learned last")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000));
  command
      .add_option(
          "--feature-scale", options.feature_scale,
          "exact: q = round(f * X) (default: the model card's; measured on features of a file)")
      ->type_name("X")
      ->check(CLI::Range(1e-30, 1e30));
  command
      .add_option("--hidden-mul", options.hidden_mul,
                  "exact: gain of the hidden units in 1/65536 (default: the same)")
      ->type_name("N")
      ->check(CLI::Range(1, 65536));
  command.add_option("--out", options.out, "Folder of the report (default engram-report)")
      ->type_name("DIR");
  add_kind_options(command, options.learner);
  command
      .add_option("--hidden", options.hidden, "M, hidden units; a list is compared (default 2000)")
      ->type_name("LIST")
      ->delimiter(',');
  command.add_option("--lambda", options.lambdas, "Rules or numbers; a list is compared")
      ->type_name("LIST")
      ->delimiter(',');
  command
      .add_option("--nonlinearity", options.nonlinearities,
                  "float: relu, square or none after the projection; a list is compared")
      ->type_name("LIST")
      ->delimiter(',');
  command
      .add_option("--projection-seed", options.projection_seeds,
                  "Seed of the projection (default 1); a list is averaged")
      ->type_name("LIST")
      ->delimiter(',');
}

}  // namespace engram
