// The samples' rows beside the sums of the dense form: kept, saved, added up, and what a state without
// them can still do.
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "engine/byte_io.h"
#include "engine/learner.h"
#include "tests/support/catch.h"
#include "tests/support/learner_views.h"
#include "tests/support/says.h"
#include "tests/support/snapshot_sections.h"
#include "tests/support/synthetic.h"
#include "tests/support/temp_directory.h"

namespace engram {
namespace {

using test::make_samples;
using test::Samples;
using test::says;
using test::taught;
using test::TempDirectory;

constexpr int kWidth = 12, kUnits = 100;  // dense beyond 50 samples

LearnerConfig config_of(bool keep = true) {
  LearnerConfig config = test::exact_config(kWidth, kUnits);
  config.lambda_rule = LambdaRule::fixed;
  config.lambda = 500;
  config.keep_features = keep;
  return config;
}

// Samples [first, first + count) of those that the learner keeps.
LearnedSamples part(const Learner& learner, std::size_t first, std::size_t count) {
  const LearnedSamples all = learner.kept_samples();
  LearnedSamples some;
  const std::size_t width = all.batch.rows.size() / all.size();
  for (std::size_t i = first; i < first + count; ++i) {
    some.ids.push_back(all.ids[i]);
    some.batch.labels.push_back(all.batch.labels[i]);
    const auto row = all.batch.rows.begin() + std::ptrdiff_t(i * width);
    some.batch.rows.insert(some.batch.rows.end(), row, row + std::ptrdiff_t(width));
  }
  return some;
}

using Sections = std::map<std::string, std::string>;

Sections sections_of(const Learner& learner, const std::string& path) {
  {
    SnapshotWriter writer = SnapshotWriter::create(path).value();
    REQUIRE(learner.save(writer).ok());
    REQUIRE(writer.commit().ok());
  }
  const SnapshotReader reader = SnapshotReader::open(path).value();
  Sections sections;
  for (const std::string& name : test::section_names(path)) {
    sections[name] = as_text(reader.section(name).value());
  }
  return sections;
}

Result<Learner> loaded_from(const Sections& sections, const std::string& path) {
  SnapshotWriter writer = SnapshotWriter::create(path).value();
  for (const auto& [name, bytes] : sections) {
    REQUIRE(writer.begin_section(name).ok());
    REQUIRE(writer.write(as_bytes(bytes)).ok());
  }
  REQUIRE(writer.commit().ok());
  return Learner::load(SnapshotReader::open(path).value());
}

// As a version before rows were kept beside the sums wrote it.
Learner older(const Learner& learner, const std::string& path) {
  Sections sections = sections_of(learner, path);
  for (const char* name : {"kept_rows", "kept_classes", "kept_ids"}) {
    REQUIRE(sections.erase(name) == 1);
  }
  auto progress = nlohmann::json::parse(sections["progress"]);
  progress.erase("sums_only");
  sections["progress"] = progress.dump();
  return loaded_from(sections, path).value();
}

}  // namespace

TEST_CASE("kept rows: the move and a snapshot keep every sample", "[engine][learner][rows]") {
  const TempDirectory directory;
  LearnerConfig config =
      GENERATE(config_of(), test::float_config(kWidth, kUnits), test::float_config(kWidth, 0));
  config.lambda_rule = GENERATE(LambdaRule::fixed, LambdaRule::paper);
  const Samples samples = make_samples(3, 30, kWidth);
  Learner learner = taught(config, samples, 0, 45);
  REQUIRE(learner.learn(samples.features(45, 45), samples.names(45, 45)).ok());
  REQUIRE(learner.form() == Form::dense);
  REQUIRE(learner.sums_only() == 0);
  const LearnedSamples kept = learner.kept_samples();
  REQUIRE(kept.size() == 90);
  CHECK(kept.ids.front() == 1);
  CHECK(kept.ids.back() == 90);
  CHECK(kept.batch.labels == samples.labels);
  CHECK(kept.batch.rows == learner.encode(samples.features(), samples.labels)->rows);

  const Learner copy = test::round_trip(learner, directory / "state").value();
  CHECK(copy.form() == Form::dense);
  CHECK(copy.sums_only() == 0);
  CHECK(copy.digest() == learner.digest());
  CHECK(copy.kept_samples().ids == kept.ids);
  CHECK(copy.kept_samples().batch.rows == kept.batch.rows);

  config.keep_features = false;
  const Learner sums = taught(config, samples, 0, 90);
  CHECK(sums.kept_samples().size() == 0);
  CHECK(sums.sums_only() == 90);
  CHECK(sections_of(sums, directory / "sums").count("kept_rows") == 0);
}

TEST_CASE("kept rows: the oldest sample is taken back exactly from sums",
          "[engine][learner][rows]") {
  const Samples samples = make_samples(4, 30, kWidth);
  Learner learner = taught(config_of(), samples, 0, 120);
  REQUIRE(learner.end_task().ok());
  REQUIRE(learner.unlearn(part(learner, 0, 90)).ok());  // back below what the factored form holds
  REQUIRE(learner.form() == Form::dense);
  REQUIRE(learner.digest() == taught(config_of(), samples, 90, 30).digest());
  REQUIRE(learner.kept_samples().ids.front() == 91);
  REQUIRE(learner.relabel(part(learner, 2, 3), "else").ok());
  REQUIRE(learner.rename("else", "class 3").ok());
  REQUIRE(learner.digest() == taught(config_of(), samples, 90, 30).digest());
  // No samples of ours: another row, another label, a number that is gone.
  LearnedSamples other = part(learner, 0, 2);
  other.batch.rows[0] ^= std::byte{1};
  CHECK(learner.unlearn(other).code() == Code::invalid_argument);
  other = part(learner, 0, 2);
  other.ids = {5, 6};
  CHECK(learner.unlearn(other).code() == Code::invalid_argument);
  REQUIRE(learner.unlearn(part(learner, 0, 30)).ok());
  CHECK(learner.digest() == Learner::create(config_of())->digest());
  CHECK(learner.sums_only() == 0);
}

TEST_CASE("kept rows: a state of an earlier version goes on with what comes",
          "[engine][learner][rows]") {
  const TempDirectory directory;
  const Samples samples = make_samples(3, 30, kWidth);
  Learner before = taught(config_of(), samples, 0, 60);
  REQUIRE(before.end_task().ok());
  Learner learner = older(before, directory / "older");
  CHECK(learner.digest() == before.digest());
  CHECK(learner.sums_only() == 60);
  CHECK(learner.kept_samples().size() == 0);
  CHECK(says(learner.teaching().status(), "earlier version"));

  REQUIRE(learner.learn(samples.features(60, 30), samples.names(60, 30)).ok());
  Learner copy = test::round_trip(learner, directory / "again").value();
  for (Learner* each : {&learner, &copy}) {
    CHECK(each->sums_only() == 60);
    CHECK(each->kept_samples().ids.front() == 61);
    CHECK(each->teaching()->selected == 30);
    CHECK(each->teaching()->report.classes[0].judged == 0);
    CHECK(each->teaching()->report.classes[2].judged == 30);
    // Rows that somebody else still has are as good, but not more of them than there are.
    LearnedSamples others;
    others.batch = each->encode(samples.features(0, 30), samples.names(0, 30)).value();
    for (int i = 1; i <= 30; ++i) others.ids.push_back(i);
    LearnedSamples wrong = others;
    for (std::string& label : wrong.batch.labels) label = "class 2";  // all of these have rows
    CHECK(each->unlearn(wrong).code() == Code::invalid_argument);
    REQUIRE(each->unlearn(part(*each, 10, 20)).ok());
    REQUIRE(each->unlearn(others).ok());
    CHECK(each->digest() == taught(config_of(), samples, 30, 40).digest());
  }
}

TEST_CASE("kept rows: sums and rows of several learners add up", "[engine][learner][rows]") {
  const Samples samples = make_samples(4, 45, kWidth);
  const Learner whole = taught(config_of(), samples, 60, 60),
                sums = taught(config_of(false), samples, 120, 60);
  Learner learner = taught(config_of(), samples, 0, 60);
  REQUIRE(learner.absorb(whole).ok());
  CHECK(learner.sums_only() == 0);
  CHECK(learner.kept_samples().size() == 120);
  CHECK(learner.kept_samples().batch.rows ==
        taught(config_of(), samples, 0, 120).kept_samples().batch.rows);
  REQUIRE(learner.absorb(sums).ok());
  CHECK(learner.digest() == taught(config_of(), samples, 0, 180).digest());
  CHECK(learner.sums_only() == 180);
  CHECK(learner.kept_samples().size() == 120);
  // A part of whose samples has rows, into one that has nothing yet: those without come first.
  Learner other = Learner::create(config_of()).value();
  REQUIRE(other.absorb(learner).ok());
  CHECK(other.sums_only() == 60);
  CHECK(other.last_id() == 180);
  CHECK(other.kept_samples().ids.front() == 61);
  REQUIRE(other.unlearn(part(other, 0, 120)).ok());
  CHECK(other.digest() == sums.digest());
  // Who may not keep features keeps none.
  Learner none = Learner::create(config_of(false)).value();
  REQUIRE(none.absorb(whole).ok());
  CHECK(none.kept_samples().size() == 0);
  CHECK(none.digest() == whole.digest());
}

TEST_CASE("kept rows: sections that do not fit the sums are refused", "[engine][learner][rows]") {
  const TempDirectory directory;
  const Samples samples = make_samples(2, 30, kWidth);
  const Sections good = sections_of(taught(config_of(), samples, 0, 60), directory / "good");
  REQUIRE(loaded_from(good, directory / "again").ok());
  const auto refused = [&](auto change) {
    Sections sections = good;
    change(sections);
    return loaded_from(sections, directory / "bad").status().code() == Code::bad_data;
  };
  const auto progress = [&](const char* field, std::int64_t value) {
    auto json = nlohmann::json::parse(good.at("progress"));
    json[field] = value;
    return json.dump();
  };
  CHECK(refused([](Sections& s) { s.erase("kept_classes"); }));
  CHECK(refused([](Sections& s) { s.erase("kept_ids"); }));
  CHECK(refused([](Sections& s) { s["kept_rows"].pop_back(); }));
  CHECK(refused([](Sections& s) { s["kept_rows"][7] = '\x80'; }));
  CHECK(refused([](Sections& s) { s["kept_classes"][0] = 2; }));  // there is no third class
  CHECK(refused([](Sections& s) { s["kept_classes"][0] = 1; }));  // one more than it has
  CHECK(refused([](Sections& s) { std::swap(s["kept_ids"][0], s["kept_ids"][8]); }));
  CHECK(refused([](Sections& s) { s["config"] = to_json(config_of(false)); }));
  CHECK(refused([&](Sections& s) { s["progress"] = progress("sums_only", -1); }));
  CHECK(refused([](Sections& s) {  // a row less, and nobody says that it is in the sums alone
    s["kept_rows"].resize(s["kept_rows"].size() - kWidth);
    s["kept_classes"].resize(s["kept_classes"].size() - 4);
    s["kept_ids"].resize(s["kept_ids"].size() - 8);
  }));
  CHECK(refused([&](Sections& s) {
    s["kept_rows"].resize(s["kept_rows"].size() - kWidth);
    s["kept_classes"].resize(s["kept_classes"].size() - 4);
    s["kept_ids"].resize(s["kept_ids"].size() - 8);
    s["progress"] = progress("sums_only", 61);
  }));
}

}  // namespace engram
