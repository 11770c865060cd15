#include "engine/protocol_schedule.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "engine/metrics.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"

namespace engram {
namespace {

// K classes of `each` training samples and two test samples, in two domains.
struct Fixture {
  Fixture(int classes, int each) {
    for (int k = 0; k < classes; ++k) {
      names.push_back("class " + std::to_string(k));
      for (int i = 0; i < each; ++i) {
        y_train.push_back(k);
        domain_train.push_back(i % 2);
      }
      for (int i = 0; i < 2; ++i) {
        y_test.push_back(k);
        domain_test.push_back(i);
      }
    }
    rows.resize(y_train.size());
  }
  ProtocolData data() const {
    return {{rows.data(), int(y_train.size()), 1, 1},
            y_train,
            {rows.data(), int(y_test.size()), 1, 1},
            y_test,
            names,
            domain_train,
            domain_test,
            {"photo", "sketch"}};
  }
  std::vector<float> rows;
  std::vector<int> y_train, y_test, domain_train, domain_test;
  std::vector<std::string> names;
};

// Every training sample once.
bool is_partition(const Schedule& schedule, std::size_t samples) {
  std::vector<int> all;
  for (const auto& task : schedule.train) all.insert(all.end(), task.begin(), task.end());
  std::sort(all.begin(), all.end());
  std::vector<int> wanted(samples);
  std::iota(wanted.begin(), wanted.end(), 0);
  return all == wanted;
}

}  // namespace

TEST_CASE("schedule: classes in tasks, in numpy's order", "[engine][protocol]") {
  const Fixture fixture(10, 4);
  ProtocolOptions options;
  options.first = 4;
  options.increment = 3;
  const Schedule schedule = make_schedule(fixture.data(), options).value();
  CHECK(schedule.task_sizes == std::vector<int>{4, 3, 3});
  CHECK(schedule.class_order == NumpyRandom(1993).permutation(10));
  CHECK(is_partition(schedule, 40));
  for (std::size_t t = 0, first = 0; t < 3; first += std::size_t(schedule.task_sizes[t++])) {
    const std::set<int> wanted(
        schedule.class_order.begin() + std::ptrdiff_t(first),
        schedule.class_order.begin() + std::ptrdiff_t(first) + schedule.task_sizes[t]);
    std::set<int> learned, tested;
    for (const int i : schedule.train[t]) learned.insert(fixture.y_train[std::size_t(i)]);
    for (std::size_t i = 0; i < schedule.group.size(); ++i) {
      if (schedule.group[i] == int(t)) tested.insert(fixture.y_test[i]);
    }
    CHECK(learned == wanted);
    CHECK(tested == wanted);
    CHECK(schedule.tested_from[t] == int(t));
  }
}

TEST_CASE("schedule: everything at once", "[engine][protocol]") {
  const Fixture fixture(5, 3);
  ProtocolOptions options;
  options.protocol = Protocol::joint;
  const Schedule schedule = make_schedule(fixture.data(), options).value();
  CHECK(schedule.task_sizes == std::vector<int>{5});
  CHECK(is_partition(schedule, 15));
  CHECK(schedule.overall);
}

TEST_CASE("schedule: domains in turn, tested on all from the start", "[engine][protocol]") {
  const Fixture fixture(5, 4);
  ProtocolOptions options;
  options.protocol = Protocol::dil;
  ProtocolData data = fixture.data();
  Schedule schedule = make_schedule(data, options).value();
  CHECK(schedule.task_sizes == std::vector<int>{5, 0});
  CHECK(schedule.groups == std::vector<std::string>{"photo", "sketch"});
  CHECK(schedule.tested_from == std::vector<int>{0, 0});
  CHECK(schedule.group == fixture.domain_test);
  CHECK(is_partition(schedule, 20));
  for (std::size_t t = 0; t < 2; ++t) {
    for (const int i : schedule.train[t]) CHECK(fixture.domain_train[std::size_t(i)] == int(t));
  }
  // A domain that is only tested comes last; without test domains there is one group.
  data.domains = {"only tested", "photo", "sketch"};
  std::vector<int> train = fixture.domain_train, test = fixture.domain_test;
  for (int& d : train) ++d;
  data.domain_train = train;
  schedule = make_schedule(data, options).value();
  CHECK(schedule.groups == std::vector<std::string>{"photo", "sketch", "only tested"});
  CHECK(schedule.train.size() == 2);
  data.domain_test = {};
  schedule = make_schedule(data, options).value();
  CHECK(schedule.groups == std::vector<std::string>{"all"});
  CHECK_FALSE(schedule.forgets);
  data.domain_train = {};
  CHECK(test::says(make_schedule(data, options).status(), "domain of every training"));
}

TEST_CASE("schedule: in a stream classes come and go around their time", "[engine][protocol]") {
  const Fixture fixture(20, 50);
  ProtocolOptions options;
  options.protocol = Protocol::task_free;
  options.tasks = 25;
  options.shuffle_classes = false;
  const Schedule schedule = make_schedule(fixture.data(), options).value();
  CHECK(schedule.train.size() == 25);
  CHECK(is_partition(schedule, 1000));
  CHECK(std::accumulate(schedule.task_sizes.begin(), schedule.task_sizes.end(), 0) == 20);
  std::vector<double> sum(20), squares(20);
  int place = 0;
  for (const auto& part : schedule.train) {
    CHECK(part.size() == 40);
    std::set<int> about;
    for (const int i : part) {
      const auto k = std::size_t(fixture.y_train[std::size_t(i)]);
      const double time = (place++ + 0.5) / 1000;
      sum[k] += time / 50;
      squares[k] += time * time / 50;
      about.insert(int(k));
    }
    CHECK(about.size() >= 2);   // never one class alone,
    CHECK(about.size() <= 12);  // never all of them
  }
  for (std::size_t k = 2; k < 18; ++k) {  // away from the ends of the stream
    CHECK(std::abs(sum[k] - (double(k) + 0.5) / 20) < 0.03);
    const double deviation = std::sqrt(squares[k] - sum[k] * sum[k]);
    CHECK(deviation > 0.03);
    CHECK(deviation < 0.07);
  }
  options.tasks = 1001;
  CHECK_FALSE(make_schedule(fixture.data(), options).ok());
  options.tasks = 0;  // as usual
  CHECK(make_schedule(fixture.data(), options)->train.size() == 20);
  options.most_samples = options.least_samples = 1;
  const Fixture few(15, 2);
  CHECK(make_schedule(few.data(), options)->train.size() == 15);
}

TEST_CASE("schedule: classes of uneven size", "[engine][protocol]") {
  const Fixture fixture(11, 60);
  ProtocolOptions options;
  options.tasks = 1;
  options.most_samples = 60;
  options.least_samples = 3;
  const Schedule schedule = make_schedule(fixture.data(), options).value();
  std::vector<int> counts(11);
  for (const int i : schedule.train[0]) ++counts[std::size_t(fixture.y_train[std::size_t(i)])];
  std::sort(counts.begin(), counts.end());
  CHECK(counts.front() == 3);
  CHECK(counts.back() == 60);
  CHECK(counts[5] == 13);  // the geometric mean of 3 and 60
  options.most_samples = options.least_samples = 2;
  CHECK(make_schedule(fixture.data(), options).value().train[0].size() == 22);
}

TEST_CASE("metrics: numpy's random numbers, balanced accuracy, deviation", "[engine][metrics]") {
  NumpyRandom random(1993);
  CHECK(std::abs(random.uniform() - 0.10042224286766133) < 1e-15);
  CHECK(std::abs(random.uniform() - 0.21941135757659003) < 1e-15);
  const std::vector<std::int64_t> right{9, 1, 0}, all{10, 2, 0};
  CHECK(balanced_accuracy(right, all) == 70);
  CHECK(std::isnan(balanced_accuracy({}, {})));
  const std::vector<double> values{1, 2, 3};
  CHECK(mean_deviation(values).mean == 2);
  CHECK(mean_deviation(values).deviation == 1);
  CHECK(mean_deviation(std::span(values).first(1)).deviation == 0);
}

}  // namespace engram
