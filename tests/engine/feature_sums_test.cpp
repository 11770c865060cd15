// Class sums of features in both forms, and states of an earlier version that have none.
#include "engine/feature_sums.h"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/learner.h"
#include "engine/snapshot_layout.h"
#include "platform/file.h"
#include "platform/hash.h"
#include "tests/support/catch.h"
#include "tests/support/learner_views.h"
#include "tests/support/snapshot_sections.h"
#include "tests/support/synthetic.h"
#include "tests/support/temp_directory.h"

namespace engram {
namespace {

using test::make_samples;
using test::Samples;
using test::taught_task;

constexpr int kWidth = 24;

LearnerConfig dense_config() {
  LearnerConfig config = test::exact_config(kWidth, 100);
  config.keep_features = false;
  return config;
}

// `learner` as format 1 had it: no sections of features.
Result<Learner> as_format_1(const Learner& learner, const test::TempDirectory& directory) {
  const std::string path = directory / "new", old_path = directory / "old";
  {
    SnapshotWriter writer = std::move(SnapshotWriter::create(path)).value();
    REQUIRE(learner.save(writer).ok());
    REQUIRE(writer.commit().ok());
  }
  {
    const SnapshotReader reader = std::move(SnapshotReader::open(path)).value();
    SnapshotWriter writer = std::move(SnapshotWriter::create(old_path)).value();
    for (const std::string& name : test::section_names(path)) {
      if (name == "feature_sums" || name == "feature_weights") continue;
      REQUIRE(writer.begin_section(name).ok());
      REQUIRE(writer.write(reader.section(name).value()).ok());
    }
    REQUIRE(writer.commit().ok());
  }
  using namespace snapshot_layout;
  std::vector<std::byte> bytes = std::move(read_file(old_path, 1 << 24)).value();
  bytes[kMagic.size()] = std::byte{1};
  const std::uint64_t sum = checksum64(std::span(bytes).first(kChecksumAt));
  std::memcpy(bytes.data() + kChecksumAt, &sum, sizeof sum);
  REQUIRE(replace_file(old_path, bytes).ok());
  ENGRAM_ASSIGN(const SnapshotReader reader, SnapshotReader::open(old_path));
  return Learner::load(reader);
}

}  // namespace

TEST_CASE("feature sums: by class, of what is encoded, in both forms", "[engine][features]") {
  const bool exact = GENERATE(true, false), keep = GENERATE(true, false);
  LearnerConfig config = exact ? test::exact_config(kWidth, 100) : test::float_config(kWidth, 100);
  config.keep_features = keep;
  const Samples samples = make_samples(3, 9, kWidth);
  const Learner learner = taught_task(config, samples);
  std::vector<double> wanted(3 * kWidth);
  for (int b = 0; b < samples.count(); ++b) {
    for (int l = 0; l < kWidth; ++l) {
      const double f = samples.features()(b, l);
      wanted[std::size_t(samples.classes[std::size_t(b)] * kWidth + l)] +=
          exact ? std::min(127.0, std::nearbyint(32.0 * f)) : f;
    }
  }
  for (int k = 0; k < 3; ++k) {
    for (int l = 0; l < kWidth; ++l) {
      const double sum = wanted[std::size_t(k * kWidth + l)];
      CHECK(test::close(learner.feature_sum(k, l), sum, exact ? 0 : 1e-6));
    }
  }
}

TEST_CASE("feature sums: rows of classes move, unite and disappear", "[engine][features]") {
  FeatureSums sums(test::exact_config(2, 100));
  REQUIRE(sums.reserve_classes(3).ok());
  sums.set_classes(3);
  const std::int8_t rows[] = {1, -2, 3, 4, 5, 127};
  const auto* bytes = reinterpret_cast<const std::byte*>(rows);
  const std::vector<std::int32_t> classes{0, 1, 2};
  sums.add(bytes, classes);
  CHECK(sums.sums()(0, 1) == -2);
  CHECK(sums.sums()(2, 1) == 127);
  sums.move(bytes, std::span(classes).first(1), 2);
  CHECK(sums.sums()(0, 1) == 0);
  CHECK(sums.sums()(2, 1) == 125);
  sums.unite(2, 1);
  CHECK(sums.sums()(1, 0) == 9);
  const std::vector<std::int32_t> left{-1, 0, -1};
  sums.renumber_classes(left, 1);
  CHECK(sums.sums().rows == 1);
  CHECK(sums.sums()(0, 1) == 129);
  // r of one class is the length of its mean.
  const std::vector<ClassInfo> infos{{"a", 3}};
  CHECK(test::close(sums.usual_length(infos), std::hypot(3.0, 43.0)));
  sums.set_classes(2);  // room that was used before holds zeros again
  CHECK(sums.sums()(1, 1) == 0);
  const FeatureSums copy_of_nothing(test::exact_config(2, 100));
  sums.absorb(copy_of_nothing, {});
  CHECK(sums.sums()(0, 1) == 129);
  sums.clear();
  CHECK(sums.usual_length({}) == 0);
}

TEST_CASE("feature sums: a factored state of format 1 has everything", "[engine][features]") {
  const test::TempDirectory directory;
  const Samples samples = make_samples(4, 5, kWidth);
  Learner learner = taught_task(test::exact_config(kWidth, 100), samples);
  REQUIRE(learner.form() == Form::factored);
  Result<Learner> old = as_format_1(learner, directory);
  REQUIRE(old.ok());
  CHECK(old->has_feature_sums());
  CHECK(old->digest() == learner.digest());
  CHECK(old->readout()->feature_weights.empty());  // until the next solve
  for (Learner* each : {&learner, &*old}) REQUIRE(each->end_task().ok());
  CHECK(old->readout()->feature_weights == learner.readout()->feature_weights);
}

TEST_CASE("feature sums: a dense state of format 1 goes on without them", "[engine][features]") {
  const test::TempDirectory directory;
  const Samples samples = make_samples(4, 5, kWidth), more = make_samples(4, 3, kWidth, 1, 2);
  Learner learner = taught_task(dense_config(), samples);
  CHECK(learner.has_feature_sums());
  Result<Learner> loaded = as_format_1(learner, directory);
  REQUIRE(loaded.ok());
  Learner& old = *loaded;
  CHECK_FALSE(old.has_feature_sums());
  CHECK(old.digest() != learner.digest());
  CHECK(old.readout()->weights == learner.readout()->weights);

  // It learns, answers and is saved as before, by ridge alone.
  REQUIRE(old.learn(more.features(), more.labels).ok());
  REQUIRE(old.refresh().ok());
  REQUIRE(old.end_task().ok());
  CHECK(old.readout()->feature_weights.empty());
  std::vector<Prediction> answers(std::size_t(more.count()));
  REQUIRE(old.classify(more.features(), answers).ok());
  for (int b = 0; b < more.count(); ++b) {
    CHECK(old.readout()->classes[std::size_t(answers[std::size_t(b)].class_index)] ==
          more.labels[std::size_t(b)]);
  }
  CHECK(old.readout_of(ReadoutKind::mean).status().code() == Code::not_supported);
  const Result<Learner> again = test::round_trip(old, directory / "again");
  REQUIRE(again.ok());
  CHECK_FALSE(again->has_feature_sums());
  CHECK(again->digest() == old.digest());

  // Added up with one that has them, none are left.
  REQUIRE(learner.absorb(old).ok());
  CHECK_FALSE(learner.has_feature_sums());
  REQUIRE(learner.end_task().ok());
  CHECK(learner.readout()->feature_weights.empty());

  // What remembers nothing lacks nothing.
  for (const Samples* all : {&samples, &more}) {
    LearnedSamples taken{{}, old.encode(all->features(), all->labels).value()};
    for (int i = 0; i < all->count(); ++i) {
      taken.ids.push_back(i + 1 + (all == &more ? samples.count() : 0));
    }
    REQUIRE(old.unlearn(taken).ok());
  }
  CHECK(old.has_feature_sums());
  CHECK(old.digest() == Learner::create(dense_config()).value().digest());
}

TEST_CASE("feature sums: sections that do not fit are refused", "[engine][features]") {
  const test::TempDirectory directory;
  const Learner learner = taught_task(dense_config(), make_samples(2, 4, kWidth));
  const std::string spoilt = GENERATE("feature_sums", "feature_weights");
  const bool finite = GENERATE(true, false);
  const std::string path = directory / "state";
  {
    SnapshotWriter writer = std::move(SnapshotWriter::create(path)).value();
    REQUIRE(learner.save(writer).ok());
    REQUIRE(writer.commit().ok());
  }
  const std::string bad = directory / "bad";
  {
    const SnapshotReader reader = std::move(SnapshotReader::open(path)).value();
    SnapshotWriter writer = std::move(SnapshotWriter::create(bad)).value();
    for (const std::string& name : test::section_names(path)) {
      const auto section = reader.section(name).value();
      std::vector<std::byte> bytes(section.begin(), section.end());
      if (spoilt == name && finite) bytes.resize(bytes.size() - 8);
      if (spoilt == name && !finite) std::fill(bytes.end() - 8, bytes.end(), std::byte{0xff});
      REQUIRE(writer.begin_section(name).ok());
      REQUIRE(writer.write(bytes).ok());
    }
    REQUIRE(writer.commit().ok());
  }
  const SnapshotReader reader = std::move(SnapshotReader::open(bad)).value();
  const Status status = Learner::load(reader).status();
  CHECK(status.code() == Code::bad_data);
  CHECK(std::string(status.what()).find(spoilt) != std::string::npos);
}

}  // namespace engram
