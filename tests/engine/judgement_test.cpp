// What a learner says beyond a label: probability, unknown; in both forms, saved and loaded.
#include "engine/judgement.h"

#include <cmath>

#include "engine/learner.h"
#include "engine/novelty.h"
#include "tests/support/catch.h"
#include "tests/support/synthetic.h"
#include "tests/support/temp_directory.h"

namespace engram {
namespace {

using test::make_samples;
using test::Samples;

LearnerConfig config_of(int width, bool keep) {
  LearnerConfig config = test::exact_config(width, 400);
  config.keep_features = keep;
  return config;
}

Samples only(const Samples& all, int from, int to) {  // classes [from, to)
  Samples part;
  part.width = all.width;
  for (int i = 0; i < all.count(); ++i) {
    const int label = all.classes[std::size_t(i)];
    if (label < from || label >= to) continue;
    const float* row = all.features().row(i);
    part.values.insert(part.values.end(), row, row + all.width);
    part.classes.push_back(label);
    part.labels.push_back(all.labels[std::size_t(i)]);
  }
  return part;
}

std::vector<Prediction> classify(Learner& learner, const Samples& samples, double rate = 0.05) {
  std::vector<Prediction> predictions(std::size_t(samples.count()));
  REQUIRE(learner.classify(samples.features(), predictions, rate).ok());
  return predictions;
}

double share_unknown(const std::vector<Prediction>& predictions) {
  int unknown = 0;
  for (const Prediction& one : predictions) unknown += one.unknown ? 1 : 0;
  return double(unknown) / double(predictions.size());
}

bool finite(const Prediction& one) {
  return std::isfinite(one.score) && one.probability >= 0 && one.probability <= 1 &&
         (!one.known || (*one.known >= 0 && *one.known <= 1));
}

}  // namespace

TEST_CASE("judgement: a learner tells what it never saw", "[engine][unknown]") {
  const Samples all = make_samples(8, 12, 48, 1), fresh = make_samples(8, 12, 48, 1, 2);
  auto learner = Learner::create(config_of(48, true));
  const Samples taught = only(all, 0, 6);
  REQUIRE(learner->learn(taught.features(), taught.labels).ok());
  REQUIRE(learner->end_task().ok());
  const auto known = classify(*learner, only(fresh, 0, 6));
  const auto unknown = classify(*learner, only(fresh, 6, 8));
  CHECK(share_unknown(known) < 0.25);
  CHECK(share_unknown(unknown) > share_unknown(known) + 0.3);
  std::vector<float> high, low;
  for (const Prediction& one : known) {
    CHECK(finite(one));
    REQUIRE(one.known);
    CHECK(one.probability <= *one.known);
    high.push_back(*one.known);
  }
  for (const Prediction& one : unknown) low.push_back(one.known.value());
  CHECK(area_under_roc(high, low) > 0.8);
  // A rate of 0 alarms seldom, of 1 always.
  CHECK(share_unknown(classify(*learner, only(fresh, 0, 6), 0.0)) <= share_unknown(known));
  CHECK(share_unknown(classify(*learner, only(fresh, 0, 6), 1.0)) > 0.8);
}

TEST_CASE("judgement: one class, one sample each, equal samples", "[engine][unknown]") {
  const Samples all = make_samples(5, 4, 32, 3);
  const auto taught = [&](const Samples& samples) {
    auto learner = Learner::create(config_of(32, true));
    REQUIRE(learner->learn(samples.features(), samples.labels).ok());
    REQUIRE(learner->end_task().ok());
    return classify(*learner, all);
  };
  bool any_unknown = false;
  for (const Prediction& one : taught(only(all, 0, 1))) {
    CHECK(finite(one));
    CHECK_FALSE(one.known);  // of one class nobody learns what others look like
    any_unknown |= one.unknown;
  }
  CHECK(any_unknown);
  for (const Prediction& one : taught(only(all, 0, 2))) CHECK(finite(one));
  Samples once;
  once.width = all.width;
  for (int label = 0; label < 5; ++label) {
    const Samples of_class = only(all, label, label + 1);
    once.values.insert(once.values.end(), of_class.values.begin(),
                       of_class.values.begin() + all.width);
    once.classes.push_back(label);
    once.labels.push_back(of_class.labels[0]);
  }
  for (const Prediction& one : taught(once)) {
    CHECK(finite(one));
    CHECK_FALSE(one.unknown);  // no class has two samples: nothing can be said
  }
  Samples equal = once;  // every sample three times
  for (int i = 0; i < 2; ++i) {
    equal.values.insert(equal.values.end(), once.values.begin(), once.values.end());
    equal.classes.insert(equal.classes.end(), once.classes.begin(), once.classes.end());
    equal.labels.insert(equal.labels.end(), once.labels.begin(), once.labels.end());
  }
  for (const Prediction& one : taught(equal)) CHECK(finite(one));
}

TEST_CASE("judgement: without samples, from what was said before learning", "[engine][unknown]") {
  const Samples all = make_samples(8, 20, 48, 4), fresh = make_samples(8, 12, 48, 4, 5);
  auto learner = Learner::create(config_of(48, false));
  // Two classes a task, and everything known again in each: known and unknown examples.
  for (int classes = 2; classes <= 6; classes += 2) {
    const Samples task = only(all, 0, classes);
    REQUIRE(learner->learn(task.features(), task.labels).ok());
    REQUIRE(learner->end_task().ok());
  }
  const auto readout = learner->readout();
  CHECK(readout->confidence.fitted);
  CHECK(readout->said_before.known().size() >= 100);
  CHECK(readout->said_before.unknown().size() == 80);
  REQUIRE(readout->probes != nullptr);
  const auto known = classify(*learner, only(fresh, 0, 6));
  const auto unknown = classify(*learner, only(fresh, 6, 8));
  CHECK(share_unknown(unknown) > share_unknown(known));

  // Two samples are too few to tell: nothing is called unknown.
  auto beginner = Learner::create(config_of(48, false));
  const Samples first = only(all, 0, 1);
  REQUIRE(beginner->learn(first.features().row_range(0, 2), std::span(first.labels).first(2)).ok());
  REQUIRE(beginner->end_task().ok());
  CHECK_FALSE(beginner->readout()->confidence.fitted);
  CHECK(share_unknown(classify(*beginner, fresh)) == 0.0);
}

TEST_CASE("judgement: a stream without samples, no class shown twice", "[engine][unknown]") {
  const Samples all = make_samples(10, 40, 48, 4), fresh = make_samples(10, 12, 48, 4, 5);
  auto learner = Learner::create(config_of(48, false));
  for (int first = 0; first < 8; first += 2) {
    const Samples task = only(all, first, first + 2);
    REQUIRE(learner->learn(task.features(), task.labels).ok());
    REQUIRE(learner->end_task().ok());
    CHECK(learner->readout()->confidence.fitted);  // from the first task on
  }
  REQUIRE(learner->form() == Form::dense);
  const auto known = classify(*learner, only(fresh, 0, 8));
  const auto unknown = classify(*learner, only(fresh, 8, 10));
  CHECK(share_unknown(known) < 0.2);
  CHECK(share_unknown(unknown) > share_unknown(known) + 0.3);
}

TEST_CASE("judgement: what the factored form knew stays when it becomes dense",
          "[engine][unknown]") {
  const Samples all = make_samples(8, 40, 48, 4), fresh = make_samples(8, 12, 48, 4, 5);
  auto learner = Learner::create(config_of(48, true));
  for (const auto& [from, to] : {std::pair{0, 4}, std::pair{4, 6}}) {
    const Samples task = only(all, from, to);
    REQUIRE(learner->learn(task.features(), task.labels).ok());
    REQUIRE(learner->end_task().ok());
  }
  REQUIRE(learner->form() == Form::dense);
  CHECK(learner->readout()->said_before.known().size() >= 160);
  CHECK(share_unknown(classify(*learner, only(fresh, 0, 6))) < 0.2);
  CHECK(share_unknown(classify(*learner, only(fresh, 6, 8))) > 0.3);
}

TEST_CASE("judgement: comes back from a snapshot", "[engine][unknown]") {
  const test::TempDirectory directory;
  const Samples all = make_samples(6, 12, 48, 6);
  for (const bool keep : {true, false}) {
    auto learner = Learner::create(config_of(48, keep));
    for (int classes = 3; classes <= 5; ++classes) {
      const Samples task = only(all, 0, classes);
      REQUIRE(learner->learn(task.features(), task.labels).ok());
      REQUIRE(learner->end_task().ok());
    }
    const std::string path = directory.path() + (keep ? "/kept" : "/dense");
    {
      auto writer = SnapshotWriter::create(path);
      REQUIRE(writer.ok());
      REQUIRE(learner->save(writer.value()).ok());
      REQUIRE(writer->commit().ok());
    }
    const auto reader = SnapshotReader::open(path);
    REQUIRE(reader.ok());
    auto loaded = Learner::load(reader.value());
    REQUIRE(loaded.ok());
    const auto before = classify(*learner, all), after = classify(*loaded, all);
    for (std::size_t i = 0; i < before.size(); ++i) {
      CHECK(before[i].probability == after[i].probability);
      CHECK(before[i].unknown == after[i].unknown);
    }
    CHECK(loaded->readout()->said_before == learner->readout()->said_before);
  }
}

}  // namespace engram
