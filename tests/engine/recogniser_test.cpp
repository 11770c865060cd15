#include "engine/recogniser.h"

#include <array>

#include "kernels/kernels.h"
#include "platform/hash.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"
#include "tests/support/staged_simt.h"
#include "tests/support/temp_directory.h"
#include "tools/convert/onnx_writer.h"

using namespace engram;
using namespace engram::test;

namespace {

// A picture in one colour; `shade` moves it a little.
Image plain(std::array<int, 3> colour, int shade) {
  Image picture{16, 16, {}};
  for (int pixel = 0; pixel < 16 * 16; ++pixel) {
    for (const int channel : colour) {
      picture.rgb.push_back(static_cast<std::uint8_t>(channel + shade + pixel % 3));
    }
  }
  return picture;
}
const std::array<int, 3> kRed{200, 20, 20}, kGreen{20, 200, 20}, kBlue{20, 20, 200};

// A home with a real model: mean and maximum of each channel.
class Desk {
 public:
  Desk() {
    OnnxWriter net("colours");
    net.input("image", {OnnxWriter::kBatch, 3, 16, 16});
    net.node("GlobalAveragePool", {"image"}, {"mean"});
    net.node("GlobalMaxPool", {"image"}, {"maximum"});
    net.node("Concat", {"mean", "maximum"}, {"both"}, {{"axis", std::int64_t{1}}});
    net.node("Flatten", {"both"}, {"features"});
    net.output("features", {OnnxWriter::kBatch, 6});
    const std::string bytes = net.finish();
    const auto content = std::as_bytes(std::span(bytes));
    REQUIRE(replace_file(folder_ / "colours.onnx", content).ok());
    ModelCard card;
    card.name = "colours";
    card.licence = "unknown";
    card.sha256 = sha256_hex(content);
    card.preprocess.resize = card.preprocess.crop = 16;
    card.preprocess.std = {255, 255, 255};
    card.output = "features";
    card.features = 6;
    card.feature_scale = 32;
    card.hidden_mul = 1 << 12;
    REQUIRE(ModelStore(folder_.path()).add(folder_ / "colours.onnx", card, false).ok());
  }
  Recogniser::Options options(Recogniser::Access access = Recogniser::Access::write) const {
    Recogniser::Options options;
    options.state = folder_ / "state";
    options.home = folder_.path();
    options.model = "colours";
    options.access = access;
    options.threads = 1;
    options.config.hidden = 200;
    return options;
  }

 private:
  TempDirectory folder_;
};

void teach(Recogniser& recogniser, const std::string& label, std::array<int, 3> colour) {
  for (int shade = 0; shade < 20; shade += 5) {
    REQUIRE(recogniser.learn(plain(colour, shade), label).ok());
  }
}

std::string best(Recogniser& recogniser, std::array<int, 3> colour) {
  const auto answers = recogniser.classify(plain(colour, 7), 1);
  REQUIRE(answers.ok());
  REQUIRE(answers->size() == 1);
  return answers->front().label;
}

// Into the desk's state, which is closed again.
void teach_red_and_green(const Desk& desk) {
  auto teacher = Recogniser::open(desk.options()).value();
  teach(teacher, "red", kRed);
  teach(teacher, "green", kGreen);
  REQUIRE(teacher.end_task().ok());
}

}  // namespace

TEST_CASE("what is shown with a name is known, at once and when opened again",
          "[engine][recogniser][openvino]") {
  const Desk desk;
  {
    auto recogniser = Recogniser::open(desk.options()).value();
    CHECK(recogniser.classify(plain(kRed, 0), 1).status().code() == Code::not_found);
    teach(recogniser, "red", kRed);
    teach(recogniser, "green", kGreen);
    REQUIRE(recogniser.end_task().ok());
    CHECK(recogniser.classes() == std::vector<std::string>{"red", "green"});
    CHECK(best(recogniser, kGreen) == "green");
    teach(recogniser, "blue", kBlue);  // no task ends here
    CHECK(best(recogniser, kBlue) == "blue");
  }
  auto reader = Recogniser::open(desk.options(Recogniser::Access::read)).value();
  CHECK(reader.store() == nullptr);
  CHECK(best(reader, kRed) == "red");
  CHECK(best(reader, kBlue) != "blue");  // a reader sees the last end of a task
  CHECK(says(reader.learn(plain(kRed, 0), "red"), "reading only"));
  CHECK(reader.undo().status().code() == Code::invalid_argument);
  CHECK(reader.end_task().status().code() == Code::invalid_argument);

  auto again = Recogniser::open(desk.options()).value();
  CHECK(best(again, kBlue) == "blue");
  const std::vector<Image> pictures{plain(kRed, 3), plain(kGreen, 3), plain(kBlue, 3)};
  const auto answers = again.classify(pictures, 5);
  REQUIRE(answers.ok());
  REQUIRE(answers->size() == 3);
  for (const auto& of_one : answers.value()) {
    REQUIRE(of_one.size() == 3);  // not 5: three classes are known
    CHECK(of_one[0].score >= of_one[1].score);
    CHECK(of_one[0].probability > of_one[1].probability);
  }
}

TEST_CASE("steps are taken back, and a class with them", "[engine][recogniser][openvino]") {
  const Desk desk;
  auto recogniser = Recogniser::open(desk.options()).value();
  teach(recogniser, "red", kRed);
  teach(recogniser, "green", kGreen);
  REQUIRE(recogniser.end_task().ok());
  teach(recogniser, "blue", kBlue);
  REQUIRE(recogniser.undo(4).ok());
  CHECK(best(recogniser, kBlue) != "blue");
  CHECK(recogniser.undo(100).status().code() == Code::invalid_argument);
}

TEST_CASE("classes are judged by the samples kept", "[engine][recogniser][teaching][openvino]") {
  const Desk desk;
  auto recogniser = Recogniser::open(desk.options()).value();
  teach(recogniser, "red", kRed);
  CHECK(recogniser.store()->learner().teaching().status().code() == Code::not_found);
  teach(recogniser, "blue", kBlue);
  REQUIRE(recogniser.learn(plain(kBlue, 0), "blue").ok());  // the same picture again
  REQUIRE(recogniser.end_task().ok());
  const auto teaching = recogniser.store()->learner().teaching();
  REQUIRE(teaching.ok());
  CHECK_FALSE(teaching->duplicates.empty());
}

TEST_CASE("a device lost in the middle of a call: the CPU repeats it, and all later ones",
          "[engine][recogniser][device][openvino]") {
  const auto access = GENERATE(Recogniser::Access::write, Recogniser::Access::read);
  const int waits = GENERATE(0, 1, 2, 3, 4, 5, 7, 9, 12, 16);  // waits until it is lost
  CAPTURE(int(access), waits);
  const Desk desk;
  const OnSimtDevice on;
  teach_red_and_green(desk);
  auto recogniser = Recogniser::open(desk.options(access)).value();
  simt::device_trial().waits_until_lost = waits;
  for (int frame = 0; frame < 5; ++frame) {
    CHECK(best(recogniser, kGreen) == "green");
    CHECK(best(recogniser, kRed) == "red");
  }
  CHECK(backend_in_use().kernels == &kCpuKernels);
  CHECK(says(backend_in_use().why_cpu, "GPU stopped"));
  if (access == Recogniser::Access::read) return;
  teach(recogniser, "blue", kBlue);
  CHECK(best(recogniser, kBlue) == "blue");
  REQUIRE(recogniser.end_task().ok());
}

TEST_CASE("a device that turns out to be lost when memory is asked for: the CPU goes on",
          "[engine][recogniser][device][openvino]") {
  const auto access = GENERATE(Recogniser::Access::write, Recogniser::Access::read);
  const bool when_opened = GENERATE(true, false);
  const int allocations = GENERATE(0, 1, 2, 4, 8);
  CAPTURE(int(access), when_opened, allocations);
  const Desk desk;
  const OnSimtDevice on;
  teach_red_and_green(desk);
  if (when_opened) simt::lose_device_at_allocation(allocations);
  auto recogniser = Recogniser::open(desk.options(access)).value();
  if (!when_opened) simt::lose_device_at_allocation(allocations);
  CHECK(best(recogniser, kGreen) == "green");
  CHECK(best(recogniser, kRed) == "red");
  if (allocations == 0) CHECK(backend_in_use().kernels == &kCpuKernels);
  if (access == Recogniser::Access::read) return;
  teach(recogniser, "blue", kBlue);
  CHECK(recogniser.store()->learner().samples() == 12);
  CHECK(best(recogniser, kBlue) == "blue");
  REQUIRE(recogniser.undo().ok());
  CHECK(recogniser.store()->learner().samples() == 11);
  REQUIRE(recogniser.end_task().ok());
}

TEST_CASE("a device lost while teaching or undoing: the CPU repeats the step, once",
          "[engine][recogniser][device][openvino]") {
  const bool keep = GENERATE(true, false);
  const int waits = GENERATE(0, 1, 2, 3, 4, 5, 6, 8, 10, 14, 20, 30, 50);
  CAPTURE(keep, waits);
  const Desk desk;
  Recogniser::Options options = desk.options();
  options.config.keep_features = keep;
  const OnSimtDevice on;
  auto recogniser = Recogniser::open(options).value();
  teach(recogniser, "red", kRed);
  teach(recogniser, "green", kGreen);
  REQUIRE(recogniser.end_task().ok());
  const std::string before = recogniser.store()->learner().digest();

  simt::device_trial().waits_until_lost = waits;
  REQUIRE(recogniser.learn(plain(kBlue, 1), "blue").ok());
  CHECK(recogniser.store()->learner().samples() == 9);
  REQUIRE(recogniser.undo().ok());
  CHECK(recogniser.store()->learner().digest() == before);
  REQUIRE(recogniser.learn(plain(kBlue, 1), "blue").ok());
  REQUIRE(recogniser.end_task().ok());
  CHECK(best(recogniser, kBlue) == "blue");
  CHECK(backend_in_use().kernels == &kCpuKernels);
}

TEST_CASE("what cannot be opened or learned is refused", "[engine][recogniser][openvino]") {
  const Desk desk;
  CHECK(Recogniser::open(desk.options(Recogniser::Access::read)).status().code() ==
        Code::not_found);
  auto unknown_model = desk.options();
  unknown_model.model = "no-such-model";
  CHECK(says(Recogniser::open(unknown_model).status(), "no-such-model"));
  auto recogniser = Recogniser::open(desk.options()).value();
  const std::vector<Image> one{plain(kRed, 0)};
  const std::vector<std::string> two{"red", "green"};
  CHECK(recogniser.learn(one, two).code() == Code::invalid_argument);
  CHECK(recogniser.store()->learner().classes().empty());
}
