// A learner to a snapshot and back.
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "engine/learner.h"
#include "tests/support/catch.h"
#include "tests/support/learner_views.h"
#include "tests/support/synthetic.h"
#include "tests/support/temp_directory.h"

namespace engram {
namespace {

using test::make_samples;
using test::round_trip;
using test::Samples;

using Sections = std::vector<std::pair<std::string, std::string>>;

Result<Learner> loaded_from(const Sections& sections, const std::string& path) {
  SnapshotWriter writer = std::move(SnapshotWriter::create(path)).value();
  for (const auto& [name, bytes] : sections) {
    REQUIRE(writer.begin_section(name).ok());
    REQUIRE(writer.write(std::as_bytes(std::span(bytes.data(), bytes.size()))).ok());
  }
  REQUIRE(writer.commit().ok());
  const SnapshotReader reader = std::move(SnapshotReader::open(path)).value();
  return Learner::load(reader);
}

Status load_sections(const Sections& sections, const std::string& path) {
  const Result<Learner> learner = loaded_from(sections, path);
  return learner.ok() ? Status() : learner.status();
}

}  // namespace

TEST_CASE("learner state: the round trip keeps everything", "[engine][learner][state]") {
  const LearnerConfig config =
      GENERATE(test::exact_config(25, 110), test::float_config(25, 110), test::float_config(25, 0));
  const test::TempDirectory directory;
  const Samples samples = make_samples(6, 10, 25);
  Learner learner = std::move(Learner::create(config)).value();

  Result<Learner> empty = round_trip(learner, directory / "empty");
  REQUIRE(empty.ok());
  CHECK(empty->digest() == learner.digest());
  CHECK(empty->readout() == nullptr);

  // One task ended, another one open with a class that the readout does not have.
  REQUIRE(learner.learn(samples.features(0, 40), samples.names(0, 40)).ok());
  REQUIRE(learner.end_task().ok());
  REQUIRE(learner.learn(samples.features(40, 15), samples.names(40, 15)).ok());
  Result<Learner> loaded = round_trip(learner, directory / "state");
  REQUIRE(loaded.ok());
  CHECK(loaded->config() == config);
  CHECK(loaded->digest() == learner.digest());
  CHECK(loaded->classes() == learner.classes());
  CHECK(loaded->samples() == 55);
  CHECK(loaded->task_samples() == 15);
  CHECK(loaded->tasks() == 1);
  CHECK(loaded->exact_until() == learner.exact_until());
  CHECK(loaded->readout()->lambda == learner.readout()->lambda);
  CHECK(loaded->readout()->samples == 40);
  CHECK(loaded->readout()->classes == learner.readout()->classes);
  CHECK(loaded->readout()->weights == learner.readout()->weights);
  CHECK(test::scores_of(*loaded, *loaded->readout(), samples) ==
        test::scores_of(learner, *learner.readout(), samples));

  // And it goes on the same way.
  for (Learner* each : {&learner, &*loaded}) {
    REQUIRE(each->learn(samples.features(55, 5), samples.names(55, 5)).ok());
  }
  const ReadoutReport mine = learner.end_task().value(), theirs = loaded->end_task().value();
  CHECK(mine.lambda == theirs.lambda);
  CHECK(loaded->digest() == learner.digest());
  CHECK(loaded->readout()->weights == learner.readout()->weights);
}

TEST_CASE("learner state: sections that do not fit each other are refused",
          "[engine][learner][state]") {
  const test::TempDirectory directory;
  LearnerConfig config = test::exact_config(3, 100);
  config.keep_features = false;
  const std::string floats(100 * 101 / 2 * 4, '\0'), sums(400, '\0');
  const std::string progress =
      R"({"tasks":1,"task_samples":1,"exact_until":9,"readout_classes":1,"readout_lambda":1.5,"readout_samples":1})";
  const std::string classes = std::string("\3\0\0\0mug", 7) + std::string("\1\0\0\0\0\0\0\0", 8);
  const Sections good{{"config", to_json(config)},
                      {"progress", progress},
                      {"classes", classes},
                      {"gram", floats},
                      {"class_sums", sums},
                      {"task_rows", "abc"},
                      {"task_classes", std::string(4, '\0')},
                      {"readout", sums}};
  REQUIRE(load_sections(good, directory / "good").ok());

  std::string not_finite = floats;
  std::memset(not_finite.data() + 40, 0xff, 4);
  std::string broken = floats, huge = floats;  // no sums of whole numbers
  const float half = 0.5f, large = 1e20f;
  std::memcpy(broken.data() + 40, &half, 4);
  std::memcpy(huge.data() + 40, &large, 4);
  std::string other_config = to_json(test::exact_config(3, 0));
  const std::pair<std::string, std::string> spoilt[] = {
      {"config", "{}"},
      {"config", other_config},
      {"config", to_json(test::exact_config(3, 101))},
      {"progress", "[]"},
      {"progress", R"({"tasks":1})"},
      {"progress",
       R"({"tasks":-1,"task_samples":1,"exact_until":9,"readout_classes":1,"readout_lambda":1.5,"readout_samples":1})"},
      {"progress",
       R"({"tasks":1,"task_samples":1,"exact_until":9,"readout_classes":2,"readout_lambda":1.5,"readout_samples":1})"},
      {"progress",
       R"({"tasks":1,"task_samples":1,"exact_until":9,"readout_classes":1,"readout_lambda":1e39,"readout_samples":1})"},
      {"classes", classes.substr(0, 10)},
      {"classes", classes + classes},
      {"classes", std::string("\xff\xff\xff\xffmug", 7)},
      {"gram", floats.substr(4)},
      {"gram", not_finite},
      {"gram", broken},
      {"gram", huge},
      {"class_sums", sums + sums},
      {"class_sums", broken.substr(0, 400)},
      {"class_sums", huge.substr(0, 400)},
      {"task_rows", "abcd"},
      {"task_classes", "abc"},
      {"task_classes", std::string("\1\0\0\0", 4)},
      {"readout", sums.substr(8)},
  };
  for (const auto& [name, bytes] : spoilt) {
    Sections sections = good;
    for (auto& [section, content] : sections) {
      if (section == name) content = bytes;
    }
    CAPTURE(name, bytes.size());
    const Status status = load_sections(sections, directory / "bad");
    CHECK(status.code() == Code::bad_data);
    CHECK(std::string(status.what()).find("bad") != std::string::npos);
  }
  for (std::size_t missing = 0; missing + 1 < good.size(); ++missing) {
    Sections sections = good;
    sections.erase(sections.begin() + std::ptrdiff_t(missing));
    CAPTURE(good[missing].first);
    CHECK(load_sections(sections, directory / "less").code() == Code::bad_data);
  }
}

TEST_CASE("learner state: kept samples that do not fit are refused", "[engine][learner][state]") {
  const test::TempDirectory directory;
  const LearnerConfig config = test::exact_config(3, 100);
  const std::string progress =
      R"({"form":"factored","next_id":7,"closed_ids":1,"tasks":1,"task_samples":1,"exact_until":9,"readout_classes":0,"readout_lambda":1.5,"readout_samples":1})";
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string text = progress;
    return text.replace(text.find(from), from.size(), to);
  };
  const std::string classes = std::string("\3\0\0\0mug", 7) + std::string("\2\0\0\0\0\0\0\0", 8);
  const std::string ids = std::string("\1\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0", 16);
  const Sections good{{"config", to_json(config)},
                      {"progress", progress},
                      {"classes", classes},
                      {"kept_rows", "abcdef"},
                      {"kept_classes", std::string(8, '\0')},
                      {"kept_ids", ids}};
  const Result<Learner> learner = loaded_from(good, directory / "good");
  REQUIRE(learner.ok());
  CHECK(learner->form() == Form::factored);
  CHECK(learner->samples() == 2);

  LearnerConfig forbidden = config;
  forbidden.keep_features = false;
  const std::string three = std::string("\3\0\0\0mug", 7) + std::string("\3\0\0\0\0\0\0\0", 8);
  const std::pair<std::string, std::string> spoilt[] = {
      {"config", to_json(forbidden)},
      {"progress", replaced("factored", "folded")},
      {"progress", replaced("\"next_id\":7", "\"next_id\":5")},
      {"progress", replaced("\"next_id\":7,", "")},
      {"progress", replaced("\"closed_ids\":1", "\"closed_ids\":7")},
      {"progress", replaced("\"closed_ids\":1,", "")},
      {"progress", replaced("\"task_samples\":1", "\"task_samples\":3")},
      {"progress", replaced("\"task_samples\":1", "\"task_samples\":2")},
      {"progress", replaced("\"task_samples\":1", "\"task_samples\":0")},
      {"classes", three},
      {"classes", classes + std::string("\3\0\0\0mug", 7) + std::string(8, '\0')},
      {"kept_rows", "abcde"},
      {"kept_rows", "abcde\x80"},
      {"kept_classes", std::string("\0\0\0\0\1\0\0\0", 8)},
      {"kept_classes", std::string(12, '\0')},
      {"kept_ids", ids.substr(8)},
      {"kept_ids", ids.substr(8) + ids.substr(0, 8)},
      {"kept_ids", std::string(16, '\0')},
  };
  for (const auto& [name, bytes] : spoilt) {
    Sections sections = good;
    for (auto& [section, content] : sections) {
      if (section == name) content = bytes;
    }
    CAPTURE(name, bytes);
    const Status status = load_sections(sections, directory / "bad");
    CHECK(status.code() == Code::bad_data);
    CHECK(std::string(status.what()).find("..") == std::string::npos);
  }
}

TEST_CASE("learner state: sums that overflowed are not saved, and the old readout stays",
          "[engine][learner][state]") {
  const test::TempDirectory directory;
  const auto bytes = [](float value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof value);
  };
  const std::string progress =
      R"({"tasks":1,"task_samples":0,"exact_until":0,"readout_classes":1,"readout_lambda":1.5,"readout_samples":1})";
  LearnerConfig config = test::float_config(1, 0);
  config.lambda_rule = LambdaRule::fixed;
  // G as large as a float can be.
  Result<Learner> learner =
      loaded_from({{"config", to_json(config)},
                   {"progress", progress},
                   {"classes", std::string("\3\0\0\0mug", 7) + std::string("\1\0\0\0\0\0\0\0", 8)},
                   {"gram", bytes(std::numeric_limits<float>::max())},
                   {"class_sums", bytes(1.0f)},
                   {"task_rows", ""},
                   {"task_classes", ""},
                   {"readout", bytes(0.5f)}},
                  directory / "large");
  REQUIRE(learner.ok());
  const auto before = learner->readout();
  const std::vector<float> values(256, 9e14f);
  REQUIRE(learner->learn({values.data(), 256, 1, 1}, std::vector<std::string>(256, "mug")).ok());
  REQUIRE_FALSE(std::isfinite(learner->gram(0, 0)));

  SnapshotWriter writer = std::move(SnapshotWriter::create(directory / "never")).value();
  CHECK(learner->save(writer).code() == Code::bad_data);
  CHECK_FALSE(learner->end_task().ok());
  CHECK(learner->readout() == before);
  CHECK(learner->task_samples() == 256);
  CHECK(learner->tasks() == 1);
}

}  // namespace engram
