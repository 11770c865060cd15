#include "engine/protocol.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "engine/metrics.h"
#include "engine/protocol_head.h"

namespace engram {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Status check(const ProtocolData& data, const ProtocolOptions& options) {
  const auto bad = [](const std::string& what) { return Status(Code::invalid_argument, what); };
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
  return {};
}

// One run: the state that its steps share.
class Run {
 public:
  Run(const ProtocolData& data, const ProtocolOptions& options, ProtocolHead& head)
      : data_(data), options_(options), head_(head), sample_order_(options.sample_seed) {}

  Result<ProtocolResult> all_tasks() {
    const auto start = Clock::now();
    const int classes = int(data_.classes.size());
    ENGRAM_ASSIGN(result_.task_sizes,
                  options_.first > 0
                      ? growing_task_sizes(classes, options_.first, options_.increment)
                      : equal_task_sizes(classes, options_.tasks));
    result_.class_order.resize(data_.classes.size());
    for (int k = 0; k < classes; ++k) result_.class_order[std::size_t(k)] = k;
    if (options_.shuffle_classes) {
      result_.class_order = NumpyRandom(options_.class_seed).permutation(classes);
    }
    task_of_class_.assign(data_.classes.size(), 0);
    int next = 0;
    for (int t = 0; t < int(result_.task_sizes.size()); ++t) {
      for (int i = 0; i < result_.task_sizes[std::size_t(t)]; ++i) {
        task_of_class_[std::size_t(result_.class_order[std::size_t(next++)])] = t;
      }
    }
    double sum = 0;
    for (int t = 0; t < int(result_.task_sizes.size()); ++t) {
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
    options_.progress({t + 1, int(result_.task_sizes.size()), stage, done, total});
  }

  // Training samples of the task: class by class as learned, then shuffled.
  std::vector<int> samples_of_task(int t) {
    std::vector<int> by_class;
    for (const int k : result_.class_order) {
      if (task_of_class_[std::size_t(k)] != t) continue;
      for (int i = 0; i < int(data_.y_train.size()); ++i) {
        if (data_.y_train[std::size_t(i)] == k) by_class.push_back(i);
      }
    }
    std::vector<int> samples(by_class.size());
    const std::vector<int> order = sample_order_.permutation(int(by_class.size()));
    for (std::size_t i = 0; i < order.size(); ++i) {
      samples[i] = by_class[std::size_t(order[i])];
    }
    return samples;
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
    const std::vector<int> samples = samples_of_task(t);
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
      if (task_of(i) <= t) samples.push_back(i);
    }
    task.test_samples = std::int64_t(samples.size());
    // Learners number classes as they meet them; the data numbers them by name.
    std::vector<int> class_of_index;
    for (const ClassInfo& info : head_.classes()) {
      const auto found = std::find(data_.classes.begin(), data_.classes.end(), info.label);
      class_of_index.push_back(int(found - data_.classes.begin()));
    }
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
    std::vector<std::int64_t> right(std::size_t(t + 1)), all(std::size_t(t + 1));
    std::int64_t all_right = 0;
    for (const int i : samples) {
      const bool correct = result_.predictions[std::size_t(i)] == data_.y_test[std::size_t(i)];
      ++all[std::size_t(task_of(i))];
      right[std::size_t(task_of(i))] += correct;
      all_right += correct;
    }
    const auto percent = [](std::int64_t part, std::int64_t whole) {
      return whole == 0 ? std::numeric_limits<double>::quiet_NaN()
                        : 100.0 * double(part) / double(whole);
    };
    for (int i = 0; i <= t; ++i) {
      task.accuracy.push_back(percent(right[std::size_t(i)], all[std::size_t(i)]));
    }
    task.top1 = percent(all_right, std::int64_t(samples.size()));
  }

  Status one_task(int t) {
    TaskResult task;
    for (int i = 0; i <= t; ++i) task.classes_seen += result_.task_sizes[std::size_t(i)];
    ENGRAM_TRY(learn(t, task));
    ENGRAM_TRY(test(t, task));
    matrix_.push_back(task.accuracy);
    task.average_accuracy = average_accuracy(matrix_, t);
    task.forgetting = average_forgetting(matrix_, t);
    result_.tasks.push_back(std::move(task));
    return {};
  }

  int task_of(int test_sample) const {
    return task_of_class_[std::size_t(data_.y_test[std::size_t(test_sample)])];
  }

  const ProtocolData& data_;
  const ProtocolOptions& options_;
  ProtocolHead& head_;
  NumpyRandom sample_order_;
  ProtocolResult result_;
  std::vector<int> task_of_class_;
  std::vector<std::vector<double>> matrix_;  // R
  std::vector<float> rows_;                  // one batch
};

}  // namespace

Result<ProtocolResult> run_protocol(const ProtocolData& data, const ProtocolOptions& options,
                                    const Kernels& kernels) {
  ENGRAM_TRY(check(data, options));
  ENGRAM_ASSIGN(const std::unique_ptr<ProtocolHead> head,
                make_head(options.head, options.config, data.x_train.cols, kernels));
  return Run(data, options, *head).all_tasks();
}

}  // namespace engram
