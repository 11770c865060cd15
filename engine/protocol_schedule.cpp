#include "engine/protocol_schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include <fmt/format.h>

#include "engine/metrics.h"

namespace engram {
namespace {

// Of the stream's length: how long a class stays, as the standard deviation of its arrival times.
// With 100 classes about 10 to 12 are about at any time.
constexpr double kStay = 0.05;
constexpr std::size_t kUsualTests = 20;  // of a stream, where nobody says how many
// The order of classes of uneven size has a seed of its own: it must not follow the class order.
constexpr std::uint32_t kTailSeedOffset = 7919;

std::vector<int> class_order(const ProtocolData& data, const ProtocolOptions& options) {
  const int classes = int(data.classes.size());
  if (options.shuffle_classes) return NumpyRandom(options.class_seed).permutation(classes);
  std::vector<int> order(data.classes.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

std::vector<std::vector<int>> samples_by_class(const ProtocolData& data) {
  std::vector<std::vector<int>> samples(data.classes.size());
  for (int i = 0; i < int(data.y_train.size()); ++i) {
    samples[std::size_t(data.y_train[std::size_t(i)])].push_back(i);
  }
  return samples;
}

std::vector<int> shuffled(const std::vector<int>& samples, NumpyRandom& random) {
  std::vector<int> result(samples.size());
  const std::vector<int> order = random.permutation(int(samples.size()));
  for (std::size_t i = 0; i < order.size(); ++i) result[i] = samples[std::size_t(order[i])];
  return result;
}

// Classes of uneven size, or few samples: random ones of each stay, by the seed of the classes.
void cut_tail(const ProtocolOptions& options, std::vector<std::vector<int>>& by_class) {
  if (options.most_samples <= 0) return;
  const int classes = int(by_class.size());
  NumpyRandom random(options.class_seed + kTailSeedOffset);
  const std::vector<int> rank = random.permutation(classes);
  for (int j = 0; j < classes; ++j) {
    const double place = classes > 1 ? double(j) / (classes - 1) : 0.0;
    const double kept = options.most_samples *
                        std::pow(double(options.least_samples) / options.most_samples, place);
    std::vector<int>& samples = by_class[std::size_t(rank[std::size_t(j)])];
    samples = shuffled(samples, random);
    samples.resize(std::min(samples.size(), std::size_t(std::lround(kept))));
  }
}

// Groups of test samples by the task that teaches their class; tested from then on.
void group_by_task(const ProtocolData& data, const std::vector<int>& task_of_class, int tasks,
                   Schedule& schedule) {
  for (const int k : data.y_test) schedule.group.push_back(task_of_class[std::size_t(k)]);
  schedule.tested_from.resize(std::size_t(tasks));
  std::iota(schedule.tested_from.begin(), schedule.tested_from.end(), 0);
}

Status by_classes(const ProtocolData& data, const ProtocolOptions& options,
                  const std::vector<std::vector<int>>& by_class, Schedule& schedule) {
  const int classes = int(data.classes.size());
  ENGRAM_ASSIGN(schedule.task_sizes,
                options.protocol == Protocol::joint ? equal_task_sizes(classes, 1)
                : options.first > 0 ? growing_task_sizes(classes, options.first, options.increment)
                                    : equal_task_sizes(classes, options.tasks));
  NumpyRandom random(options.sample_seed);
  std::vector<int> task_of_class(data.classes.size());
  std::size_t next = 0;
  for (std::size_t t = 0; t < schedule.task_sizes.size(); ++t) {
    std::vector<int> samples;  // class by class, then shuffled, as the authors' loader does
    for (int i = 0; i < schedule.task_sizes[t]; ++i) {
      const auto k = std::size_t(schedule.class_order[next++]);
      task_of_class[k] = int(t);
      samples.insert(samples.end(), by_class[k].begin(), by_class[k].end());
    }
    schedule.train.push_back(shuffled(samples, random));
  }
  group_by_task(data, task_of_class, int(schedule.task_sizes.size()), schedule);
  return {};
}

Status by_domains(const ProtocolData& data, const ProtocolOptions& options,
                  const std::vector<std::vector<int>>& by_class, Schedule& schedule) {
  if (data.domain_train.size() != data.y_train.size()) {
    return Status(Code::invalid_argument,
                  "The domain-incremental protocol needs to know the domain of every training "
                  "sample: folders domain/class, or an array domain_train.");
  }
  std::vector<std::vector<int>> samples(data.domains.size());
  for (const std::vector<int>& one_class : by_class) {
    for (const int i : one_class) {
      samples[std::size_t(data.domain_train[std::size_t(i)])].push_back(i);
    }
  }
  NumpyRandom random(options.sample_seed);
  std::vector<bool> seen(data.classes.size());
  std::vector<int> column(data.domains.size());
  std::vector<std::size_t> learned, only_tested;  // domains
  for (std::size_t d = 0; d < samples.size(); ++d) {
    (samples[d].empty() ? only_tested : learned).push_back(d);
  }
  for (const std::size_t d : learned) {
    int fresh = 0;
    for (const int i : samples[d]) {
      const auto k = std::size_t(data.y_train[std::size_t(i)]);
      fresh += !seen[k];
      seen[k] = true;
    }
    schedule.task_sizes.push_back(fresh);
    schedule.train.push_back(shuffled(samples[d], random));
  }
  schedule.overall = true;
  if (data.domain_test.empty()) {
    schedule.forgets = false;
    schedule.group.assign(data.y_test.size(), 0);
    schedule.groups = {"all"};
  } else {
    learned.insert(learned.end(), only_tested.begin(), only_tested.end());
    for (const std::size_t d : learned) {
      column[d] = int(schedule.groups.size());
      schedule.groups.push_back(data.domains[d]);
    }
    for (const int d : data.domain_test) schedule.group.push_back(column[std::size_t(d)]);
  }
  schedule.tested_from.assign(schedule.groups.size(), 0);
  return {};
}

// Each class has a time of its own, evenly spread in class order; each sample comes at its class's
// time plus Gaussian noise. So the share of every class rises and falls like a Gaussian, and each
// sample comes once. The stream is then cut into `tasks` parts; the learner is tested after each.
Status by_time(const ProtocolData& data, const ProtocolOptions& options,
               const std::vector<std::vector<int>>& by_class, Schedule& schedule) {
  struct Arrival {
    double time;
    int sample;
  };
  std::vector<Arrival> stream;
  NumpyRandom random(options.sample_seed);
  const double classes = double(data.classes.size());
  for (std::size_t j = 0; j < data.classes.size(); ++j) {
    for (const int i : by_class[std::size_t(schedule.class_order[j])]) {
      const double u = 1 - random.uniform(), v = random.uniform();  // Box and Muller
      const double noise = std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
      stream.push_back({(double(j) + 0.5) / classes + kStay * noise, i});
    }
  }
  const auto parts =
      options.tasks == 0 ? std::min(kUsualTests, stream.size()) : std::size_t(options.tasks);
  if (options.tasks < 0 || parts > stream.size()) {
    return Status(Code::invalid_argument,
                  fmt::format("A stream of {} samples cannot be tested {} times.", stream.size(),
                              options.tasks));
  }
  std::stable_sort(stream.begin(), stream.end(),
                   [](const Arrival& a, const Arrival& b) { return a.time < b.time; });
  std::vector<int> first_part(data.classes.size(), -1);
  for (std::size_t t = 0; t < parts; ++t) {
    std::vector<int> samples;
    int fresh = 0;
    for (std::size_t s = stream.size() * t / parts; s < stream.size() * (t + 1) / parts; ++s) {
      samples.push_back(stream[s].sample);
      int& first = first_part[std::size_t(data.y_train[std::size_t(stream[s].sample)])];
      if (first < 0) {
        first = int(t);
        ++fresh;
      }
    }
    schedule.train.push_back(std::move(samples));
    schedule.task_sizes.push_back(fresh);
  }
  schedule.overall = true;
  group_by_task(data, first_part, int(parts), schedule);
  return {};
}

}  // namespace

Result<Schedule> make_schedule(const ProtocolData& data, const ProtocolOptions& options) {
  Schedule schedule;
  schedule.class_order = class_order(data, options);
  std::vector<std::vector<int>> by_class = samples_by_class(data);
  cut_tail(options, by_class);
  switch (options.protocol) {
    case Protocol::cil:
    case Protocol::joint:
      ENGRAM_TRY(by_classes(data, options, by_class, schedule));
      break;
    case Protocol::dil:
      ENGRAM_TRY(by_domains(data, options, by_class, schedule));
      break;
    case Protocol::task_free:
      ENGRAM_TRY(by_time(data, options, by_class, schedule));
      break;
  }
  schedule.overall = schedule.overall || options.protocol == Protocol::joint;
  return schedule;
}

}  // namespace engram
