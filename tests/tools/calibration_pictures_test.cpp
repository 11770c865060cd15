#include "tools/convert/calibration_pictures.h"

#include <csignal>
#include <string>
#include <vector>

#include "platform/file.h"
#include "tests/support/archive_files.h"
#include "tests/support/catch.h"
#include "tests/support/picture_files.h"
#include "tests/support/says.h"
#include "tests/support/temp_directory.h"
#include "tools/convert/trial_end.h"

using namespace engram;
using namespace engram::test;

namespace {

// Pictures that are as many pixels wide as their number says, three digits in their names.
void put_pictures(const TempDirectory& folder, int count, int height = 4) {
  for (int i = 1; i <= count; ++i) {
    const std::string name = std::to_string(1000 + i).substr(1) + ".png";
    REQUIRE(write_png(folder / name, gradient_picture(i, height)).ok());
  }
}

std::vector<std::vector<int>> batches(const std::string& folder, int most) {
  auto pictures = CalibrationPictures::open(folder);
  REQUIRE(pictures.ok());
  std::vector<std::vector<int>> all;
  for (;;) {
    const int before = pictures->left();
    const auto batch = pictures->next(most);
    REQUIRE(batch.ok());
    if (batch.value().empty()) return all;
    CHECK(pictures->left() <= before - static_cast<int>(batch.value().size()));
    all.emplace_back();
    for (const Image& picture : batch.value()) all.back().push_back(picture.width);
  }
}

}  // namespace

TEST_CASE("pictures to measure on come a batch at a time", "[tools][add_model]") {
  const TempDirectory folder;
  put_pictures(folder, 20);
  REQUIRE(replace_file(folder / "003.png", bytes_of("no picture")).ok());
  REQUIRE(replace_file(folder / "020.png", bytes_of("no picture")).ok());
  CHECK(batches(folder.path(), 8) == std::vector<std::vector<int>>{{1, 2, 4, 5, 6, 7, 8, 9},
                                                                   {10, 11, 12, 13, 14, 15, 16, 17},
                                                                   {18, 19}});
}

TEST_CASE("of many pictures every few are taken, 96 at most", "[tools][add_model]") {
  const TempDirectory folder;
  put_pictures(folder, 200);
  const auto all = batches(folder.path(), 8);
  REQUIRE(all.size() == 12);
  CHECK(all.front() == std::vector<int>{1, 3, 5, 7, 9, 11, 13, 15});
  CHECK(all.back().back() == 191);
}

TEST_CASE("large pictures come in smaller batches", "[tools][add_model]") {
  const TempDirectory folder;
  put_pictures(folder, 15);
  const int side = 2400;  // 5.8 million pixels: the third reaches a quarter of 64 million
  for (const char* name : {"100.png", "101.png", "102.png", "103.png"}) {
    REQUIRE(write_png(folder / name, gradient_picture(side, side)).ok());
  }
  const auto all = batches(folder.path(), 8);
  REQUIRE(all.size() == 3);
  CHECK(all[1] == std::vector<int>{9, 10, 11, 12, 13, 14, 15, side});
  CHECK(all[2] == std::vector<int>{side, side, side});
}

TEST_CASE("too few pictures are refused, also where they turn out broken", "[tools][add_model]") {
  const TempDirectory folder;
  put_pictures(folder, 15);
  CHECK(says(CalibrationPictures::open(folder.path()).status(), "has 15 readable pictures"));
  REQUIRE(replace_file(folder / "100.png", bytes_of("no picture")).ok());
  auto pictures = CalibrationPictures::open(folder.path());
  REQUIRE(pictures.ok());
  CHECK(pictures->next(64)->size() == 15);
  const auto none = pictures->next(64);
  REQUIRE_FALSE(none.ok());
  CHECK(none.status().code() == Code::bad_data);
  CHECK(says(none.status(), "has 15 readable pictures"));
}

TEST_CASE("a child that was killed is not blamed on the model", "[tools][add_model]") {
  const auto end = [](int signal, bool timed_out = false) {
    ChildOutcome outcome;
    outcome.signal = signal;
    outcome.timed_out = timed_out;
    return ended_by_force(outcome, "net.onnx", std::int64_t{8} << 30, 120);
  };
  CHECK(end(0).ok());
  CHECK(end(SIGKILL).code() == Code::out_of_memory);
  CHECK(says(end(SIGKILL), "killed, perhaps for want of memory"));
  CHECK_FALSE(says(end(SIGKILL), "damaged"));
  CHECK(says(end(SIGKILL, true), "longer than 120 s"));  // we killed it
  CHECK(says(end(SIGALRM), "longer than 120 s"));
  CHECK(end(SIGSEGV).code() == Code::bad_data);
  CHECK(says(end(SIGSEGV), "damaged or hostile"));
}
