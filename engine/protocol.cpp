#include "engine/protocol.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "engine/metrics.h"
#include "engine/protocol_head.h"
#include "engine/protocol_schedule.h"
#include "platform/steady_time.h"

namespace engram {
namespace {

using Clock = std::chrono::steady_clock;

double percent(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? std::numeric_limits<double>::quiet_NaN()
                    : 100.0 * double(part) / double(whole);
}

Status bad(const std::string& what) {
  return Status(Code::invalid_argument, what);
}

Status check_domains(const ProtocolData& data) {
  const auto known = [&](int d) { return d >= 0 && d < int(data.domains.size()); };
  for (const auto& [domain, rows] : {std::pair(data.domain_train, data.y_train.size()),
                                     std::pair(data.domain_test, data.y_test.size())}) {
    if (domain.empty()) continue;
    if (domain.size() != rows) return bad("Every row of features needs one domain.");
    if (!std::all_of(domain.begin(), domain.end(), known)) {
      return bad(
          fmt::format("A sample has a domain that is not among the {}.", data.domains.size()));
    }
  }
  return {};
}

Status check(const ProtocolData& data, const ProtocolOptions& options) {
  const int classes = int(data.classes.size());
  if (classes == 0) return bad("There is no class to learn.");
  if (std::size_t(data.x_train.rows) != data.y_train.size() ||
      std::size_t(data.x_test.rows) != data.y_test.size()) {
    return bad("Every row of features needs one class.");
  }
  if (data.x_test.rows > 0 && data.x_test.cols != data.x_train.cols) {
    return bad(fmt::format("Training rows have {} features, test rows {}.", data.x_train.cols,
                           data.x_test.cols));
  }
  if (options.batch < 1) return bad("A batch needs at least one sample.");
  if (options.most_samples < 0 || options.least_samples < 0 ||
      (options.most_samples > 0 &&
       (options.least_samples < 1 || options.least_samples > options.most_samples))) {
    return bad(fmt::format("Classes of {} down to {} samples cannot be made.", options.most_samples,
                           options.least_samples));
  }
  std::vector<int> samples(data.classes.size());
  const auto in_range = [&](int k) { return k >= 0 && k < classes; };
  if (!std::all_of(data.y_train.begin(), data.y_train.end(), in_range) ||
      !std::all_of(data.y_test.begin(), data.y_test.end(), in_range)) {
    return bad(fmt::format("A sample has a class that is not among the {}.", classes));
  }
  for (const int k : data.y_train) ++samples[std::size_t(k)];
  const auto none = std::find(samples.begin(), samples.end(), 0);
  if (none != samples.end()) {
    return bad(fmt::format("Class \"{}\" has no training sample.",
                           data.classes[std::size_t(none - samples.begin())]));
  }
  return check_domains(data);
}

// One run: the state that its steps share.
class Run {
 public:
  Run(const ProtocolData& data, const ProtocolOptions& options, const Schedule& schedule,
      ProtocolHead& head)
      : data_(data), options_(options), schedule_(schedule), head_(head) {
    for (std::size_t k = 0; k < data.classes.size(); ++k) index_[data.classes[k]] = int(k);
  }

  Result<ProtocolResult> all_tasks() {
    const auto start = Clock::now();
    result_.class_order = schedule_.class_order;
    result_.task_sizes = schedule_.task_sizes;
    result_.groups = schedule_.groups;
    double sum = 0;
    for (int t = 0; t < int(schedule_.train.size()); ++t) {
      ENGRAM_TRY(one_task(t));
      sum += result_.tasks.back().average_accuracy;
    }
    result_.mean_average_accuracy = sum / double(result_.tasks.size());
    result_.seconds = seconds_since(start);
    return std::move(result_);
  }

 private:
  void report(int t, const char* stage, std::int64_t done, std::int64_t total) const {
    if (!options_.progress) return;
    options_.progress({t + 1, int(schedule_.train.size()), stage, done, total});
  }

  MatrixView<const float> gather(MatrixView<const float> x, std::span<const int> samples) {
    rows_.resize(samples.size() * std::size_t(x.cols));
    for (std::size_t i = 0; i < samples.size(); ++i) {
      std::copy_n(x.row(samples[i]), x.cols, rows_.data() + i * std::size_t(x.cols));
    }
    return {rows_.data(), int(samples.size()), x.cols, x.cols};
  }

  // Calls step(samples) for at most `batch` samples at a time.
  template <class Step>
  Status in_batches(int t, const char* stage, const std::vector<int>& samples, const Step& step) {
    report(t, stage, 0, std::int64_t(samples.size()));
    for (std::size_t first = 0; first < samples.size(); first += std::size_t(options_.batch)) {
      const std::size_t count =
          std::min(samples.size() - first, static_cast<std::size_t>(options_.batch));
      ENGRAM_TRY(step(std::span(samples).subspan(first, count)));
      report(t, stage, std::int64_t(first + count), std::int64_t(samples.size()));
    }
    return {};
  }

  Status learn(int t, TaskResult& task) {
    const std::vector<int>& samples = schedule_.train[std::size_t(t)];
    task.train_samples = std::int64_t(samples.size());
    auto start = Clock::now();
    ENGRAM_TRY(in_batches(t, "learn", samples, [&](std::span<const int> part) {
      std::vector<std::string> labels;
      for (const int i : part) {
        labels.push_back(data_.classes[std::size_t(data_.y_train[std::size_t(i)])]);
      }
      return head_.learn(gather(data_.x_train, part), labels);
    }));
    task.learn_seconds = seconds_since(start);

    start = Clock::now();
    report(t, "solve", 0, 1);
    ENGRAM_ASSIGN(const ReadoutReport solved, head_.end_task());
    report(t, "solve", 1, 1);
    task.lambda = solved.lambda;
    task.note = solved.note;
    task.solve_seconds = seconds_since(start);
    return {};
  }

  Status test(int t, TaskResult& task) {
    std::vector<int> samples;
    for (int i = 0; i < int(data_.y_test.size()); ++i) {
      if (schedule_.tested_from[std::size_t(group(i))] <= t) samples.push_back(i);
    }
    task.test_samples = std::int64_t(samples.size());
    // Learners number classes as they meet them; the data numbers them by name.
    std::vector<int> class_of_index;
    for (const ClassInfo& info : head_.classes()) class_of_index.push_back(index_.at(info.label));
    result_.predictions.assign(data_.y_test.size(), -1);
    const auto start = Clock::now();
    std::vector<Prediction> predictions;
    ENGRAM_TRY(in_batches(t, "test", samples, [&](std::span<const int> part) -> Status {
      predictions.resize(part.size());
      ENGRAM_TRY(head_.classify(gather(data_.x_test, part), predictions));
      for (std::size_t i = 0; i < part.size(); ++i) {
        result_.predictions[std::size_t(part[i])] =
            class_of_index[std::size_t(predictions[i].class_index)];
      }
      return {};
    }));
    task.test_seconds = seconds_since(start);
    count(t, samples, task);
    return {};
  }

  void count(int t, const std::vector<int>& samples, TaskResult& task) const {
    const std::size_t groups = schedule_.tested_from.size(), classes = data_.classes.size();
    std::vector<std::int64_t> right(groups), all(groups), class_right(classes), class_all(classes);
    std::int64_t all_right = 0;
    for (const int i : samples) {
      const int answer = result_.predictions[std::size_t(i)], truth = data_.y_test[std::size_t(i)];
      ++all[std::size_t(group(i))];
      ++class_all[std::size_t(truth)];
      right[std::size_t(group(i))] += answer == truth;
      class_right[std::size_t(truth)] += answer == truth;
      all_right += answer == truth;
    }
    for (std::size_t i = 0; i < groups; ++i) {
      if (schedule_.tested_from[i] > t) break;  // groups come in the order of their tasks
      task.accuracy.push_back(percent(right[i], all[i]));
    }
    task.top1 = percent(all_right, std::int64_t(samples.size()));
    task.all_classes = percent(all_right, std::int64_t(data_.y_test.size()));
    task.balanced = balanced_accuracy(class_right, class_all);
  }

  Status one_task(int t) {
    TaskResult task;
    for (int i = 0; i <= t; ++i) task.classes_seen += schedule_.task_sizes[std::size_t(i)];
    ENGRAM_TRY(learn(t, task));
    ENGRAM_TRY(test(t, task));
    matrix_.push_back(task.accuracy);
    task.average_accuracy = schedule_.overall ? task.top1 : average_accuracy(matrix_, t);
    task.forgetting = schedule_.forgets ? average_forgetting(matrix_, t)
                                        : std::numeric_limits<double>::quiet_NaN();
    result_.tasks.push_back(std::move(task));
    return {};
  }

  int group(int test_sample) const { return schedule_.group[std::size_t(test_sample)]; }

  const ProtocolData& data_;
  const ProtocolOptions& options_;
  const Schedule& schedule_;
  ProtocolHead& head_;
  ProtocolResult result_;
  std::map<std::string, int> index_;         // of class names
  std::vector<std::vector<double>> matrix_;  // R
  std::vector<float> rows_;                  // one batch
};

}  // namespace

const char* name(Protocol protocol) {
  constexpr const char* kNames[] = {"cil", "dil", "task-free", "joint"};
  return kNames[std::size_t(protocol)];
}

Result<Protocol> parse_protocol(const std::string& text) {
  for (const Protocol protocol :
       {Protocol::cil, Protocol::dil, Protocol::task_free, Protocol::joint}) {
    if (text == name(protocol)) return protocol;
  }
  return bad(
      fmt::format("protocol is \"{}\"; it can be one of: cil, dil, task-free, joint.", text));
}

Result<ProtocolResult> run_protocol(const ProtocolData& data, const ProtocolOptions& options,
                                    const Kernels& kernels) {
  ENGRAM_TRY(check(data, options));
  ProtocolOptions used = options;
  if (options.head == Head::probe) used.protocol = Protocol::joint;
  ENGRAM_ASSIGN(const Schedule schedule, make_schedule(data, used));
  ENGRAM_ASSIGN(const std::unique_ptr<ProtocolHead> head,
                make_head(used, data.x_train.cols, data.classes, kernels));
  return Run(data, used, schedule, *head).all_tasks();
}

}  // namespace engram
