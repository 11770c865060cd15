#include "engine/protocol.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "engine/metrics.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"
#include "tests/support/synthetic.h"

namespace engram {
namespace {

using test::make_samples;
using test::Samples;

struct Fixture {
  explicit Fixture(int classes = 12, double noise = 0.5)
      : train(make_samples(classes, 10, 40, 1, 1, noise)),
        test(make_samples(classes, 6, 40, 1, 2, noise)) {
    for (int k = 0; k < classes; ++k) names.push_back("class " + std::to_string(k));
    options.config = test::exact_config(40, 300);
    options.tasks = 4;
  }
  ProtocolData data() const {
    return {train.features(), train.classes, test.features(), test.classes, names};
  }
  Samples train, test;
  std::vector<std::string> names;
  ProtocolOptions options;
};

}  // namespace

TEST_CASE("protocol: every head learns, and the figures fit each other", "[engine][protocol]") {
  Fixture fixture(12, 1.4);
  fixture.options.head = GENERATE(Head::ranpac, Head::no_projection, Head::pairwise, Head::ncm,
                                  Head::lda, Head::rp_lda, Head::scaled, Head::balanced);
  CAPTURE(name(fixture.options.head));
  const Result<ProtocolResult> run = run_protocol(fixture.data(), fixture.options);
  REQUIRE(run.ok());
  const ProtocolResult& result = run.value();
  CHECK(result.class_order == NumpyRandom(1993).permutation(12));
  CHECK(result.task_sizes == std::vector<int>{3, 3, 3, 3});
  REQUIRE(result.tasks.size() == 4);

  std::vector<std::vector<double>> r;
  double sum = 0;
  for (int t = 0; t < 4; ++t) {
    const TaskResult& task = result.tasks[std::size_t(t)];
    CHECK(task.classes_seen == 3 * (t + 1));
    CHECK(task.train_samples == 30);
    CHECK(task.test_samples == 18 * (t + 1));
    REQUIRE(task.accuracy.size() == std::size_t(t + 1));
    r.push_back(task.accuracy);
    CHECK(task.average_accuracy == average_accuracy(r, t));
    CHECK(task.forgetting == average_forgetting(r, t));
    // Tasks have equally many test samples here, so both means are the same.
    CHECK(test::close(task.top1, task.average_accuracy));
    CHECK((task.lambda > 0) == (fixture.options.head != Head::ncm));
    sum += task.average_accuracy;
  }
  CHECK(test::close(result.mean_average_accuracy, sum / 4));
  CHECK(result.tasks.back().top1 > 60);

  int right = 0;
  for (std::size_t i = 0; i < result.predictions.size(); ++i) {
    right += result.predictions[i] == fixture.test.classes[i];
  }
  CHECK(test::close(result.tasks.back().top1, 100.0 * right / double(result.predictions.size())));
}

TEST_CASE("protocol: the probe is always joint", "[engine][protocol]") {
  Fixture fixture;
  fixture.options.head = Head::probe;
  const ProtocolResult result = run_protocol(fixture.data(), fixture.options).value();
  CHECK(result.task_sizes == std::vector<int>{12});
  CHECK(result.tasks[0].top1 > 50);
}

TEST_CASE("protocol: regression on orthogonal targets is classification", "[engine][protocol]") {
  Fixture fixture(12, 1.4);
  const ProtocolResult plain = run_protocol(fixture.data(), fixture.options).value();
  fixture.options.head = Head::regression;
  CHECK(test::says(run_protocol(fixture.data(), fixture.options).status(), "one target for each"));
  std::vector<float> targets(12 * 12);
  for (std::size_t k = 0; k < 12; ++k) targets[k * 12 + k] = 3;
  fixture.options.targets = {targets.data(), 12, 12, 12};
  CHECK(run_protocol(fixture.data(), fixture.options).value().predictions == plain.predictions);
}

TEST_CASE("protocol: domains in turn and a stream without tasks", "[engine][protocol]") {
  Fixture fixture;
  std::vector<int> train, tested;
  for (int i = 0; i < fixture.train.count(); ++i) train.push_back(i % 3);
  for (int i = 0; i < fixture.test.count(); ++i) tested.push_back(i % 3);
  ProtocolData data = fixture.data();
  data.domain_train = train;
  data.domain_test = tested;
  data.domains = {"a", "b", "c"};
  fixture.options.head = GENERATE(Head::ranpac, Head::ncm);
  fixture.options.protocol = Protocol::dil;
  ProtocolResult result = run_protocol(data, fixture.options).value();
  REQUIRE(result.tasks.size() == 3);
  CHECK(result.groups == data.domains);
  for (const TaskResult& task : result.tasks) {
    CHECK(task.accuracy.size() == 3);  // all domains, from the start
    CHECK(task.test_samples == fixture.test.count());
    CHECK(task.average_accuracy == task.top1);
    CHECK(task.top1 == task.all_classes);
  }
  data.domain_test = tested = {};
  CHECK(std::isnan(run_protocol(data, fixture.options).value().tasks[1].forgetting));
  train[5] = 3;
  CHECK_FALSE(run_protocol(data, fixture.options).ok());

  fixture.options.protocol = Protocol::task_free;
  fixture.options.tasks = 8;
  for (const int queue : {0, 20}) {
    fixture.options.queue = queue;
    result = run_protocol(fixture.data(), fixture.options).value();
    CHECK(result.tasks.size() == 8);
    CHECK(result.tasks.front().all_classes < result.tasks.front().top1);
    CHECK(result.tasks.back().all_classes == result.tasks.back().top1);
    CHECK(result.tasks.back().classes_seen == 12);
    CHECK(result.tasks.back().top1 > 80);
  }
}

TEST_CASE("protocol: readouts for uneven classes help the rare ones", "[engine][protocol]") {
  Fixture fixture(12, 2.0);
  fixture.train = make_samples(12, 60, 40, 1, 1, 2.0);
  fixture.test = make_samples(12, 40, 40, 1, 2, 2.0);
  fixture.options.tasks = 1;
  fixture.options.most_samples = 60;
  fixture.options.least_samples = 3;
  std::vector<double> balanced;
  for (const Head head : {Head::ranpac, Head::scaled, Head::balanced, Head::engram}) {
    fixture.options.head = head;
    balanced.push_back(run_protocol(fixture.data(), fixture.options).value().tasks[0].balanced);
  }
  CAPTURE(balanced[0], balanced[1], balanced[2], balanced[3]);
  CHECK(balanced[1] > balanced[0]);
  CHECK(balanced[2] > balanced[0]);
  CHECK(balanced[3] > balanced[0]);
}

TEST_CASE("protocol: the same again, and progress that adds up", "[engine][protocol]") {
  Fixture fixture;
  std::int64_t learned = 0, tested = 0;
  int solved = 0;
  fixture.options.batch = 7;
  fixture.options.progress = [&](const ProtocolProgress& progress) {
    CHECK(progress.tasks == 4);
    if (progress.done != progress.total) return;
    const std::string stage = progress.stage;
    if (stage == "learn") learned += progress.total;
    if (stage == "test") tested += progress.total;
    solved += stage == "solve";
  };
  const ProtocolResult first = run_protocol(fixture.data(), fixture.options).value();
  CHECK(learned == 120);
  CHECK(tested == 18 * (1 + 2 + 3 + 4));
  CHECK(solved == 4);
  fixture.options.progress = nullptr;
  fixture.options.batch = 256;
  const ProtocolResult second = run_protocol(fixture.data(), fixture.options).value();
  CHECK(first.predictions == second.predictions);
  for (int t = 0; t < 4; ++t) {
    CHECK(first.tasks[std::size_t(t)].lambda == second.tasks[std::size_t(t)].lambda);
    CHECK(first.tasks[std::size_t(t)].accuracy == second.tasks[std::size_t(t)].accuracy);
  }
}

TEST_CASE("protocol: task sizes and class order as asked", "[engine][protocol]") {
  Fixture fixture;
  fixture.options.head = Head::ncm;
  fixture.options.first = 5;
  fixture.options.increment = 4;
  fixture.options.shuffle_classes = false;
  const ProtocolResult result = run_protocol(fixture.data(), fixture.options).value();
  CHECK(result.task_sizes == std::vector<int>{5, 4, 3});
  CHECK(result.class_order[0] == 0);
  CHECK(result.class_order[11] == 11);
}

TEST_CASE("protocol: a task without test samples does not count", "[engine][protocol]") {
  Fixture fixture;
  fixture.options.head = Head::ncm;
  fixture.options.shuffle_classes = false;
  ProtocolData data = fixture.data();
  // The first task is classes 0 to 2; the first 18 test samples are theirs.
  data.x_test = data.x_test.row_range(18, data.x_test.rows - 18);
  data.y_test = data.y_test.subspan(18);
  const ProtocolResult result = run_protocol(data, fixture.options).value();
  CHECK(std::isnan(result.tasks[0].top1));
  CHECK(std::isnan(result.tasks[3].accuracy[0]));
  CHECK(result.tasks[3].average_accuracy > 60);
}

TEST_CASE("protocol: what cannot be run is refused", "[engine][protocol]") {
  Fixture fixture;
  const auto refused = [&](const ProtocolData& data, const ProtocolOptions& options, Code code) {
    CHECK(run_protocol(data, options).status().code() == code);
  };
  ProtocolOptions options = fixture.options;
  options.tasks = 13;
  refused(fixture.data(), options, Code::invalid_argument);
  options = fixture.options;
  options.batch = 0;
  refused(fixture.data(), options, Code::invalid_argument);
  options = fixture.options;
  options.most_samples = 3;
  options.least_samples = 5;
  refused(fixture.data(), options, Code::invalid_argument);
  options = fixture.options;
  options.config.hidden = 7;
  refused(fixture.data(), options, Code::invalid_argument);

  ProtocolData data = fixture.data();
  data.classes.push_back("never seen");
  refused(data, fixture.options, Code::invalid_argument);
  data = fixture.data();
  data.classes.pop_back();
  refused(data, fixture.options, Code::invalid_argument);
  data = fixture.data();
  data.y_train = data.y_train.first(5);
  refused(data, fixture.options, Code::invalid_argument);
  data = fixture.data();
  data.x_test.cols = 39;
  refused(data, fixture.options, Code::invalid_argument);
  refused({}, fixture.options, Code::invalid_argument);

  fixture.train.values[77] = std::numeric_limits<float>::quiet_NaN();
  for (const Head head : {Head::ranpac, Head::no_projection, Head::pairwise, Head::ncm, Head::lda,
                          Head::rp_lda, Head::scaled, Head::balanced, Head::probe}) {
    fixture.options.head = head;
    refused(fixture.data(), fixture.options, Code::bad_data);
    CHECK(parse_head(name(head)).value() == head);
  }
  CHECK(test::says(parse_head("svm").status(), "no-projection"));
  CHECK(test::says(parse_protocol("free").status(), "task-free"));
}

}  // namespace engram
