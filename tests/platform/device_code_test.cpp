// A GPU that the program has no code for is refused with a sentence.
#include "platform/device_code.h"

#include "tests/support/catch.h"
#include "tests/support/says.h"

namespace engram {

using test::says;

TEST_CASE("device_code: code and PTX run where CUDA says", "[platform][device]") {
  const auto runs = [](const char* code, int major, int minor) {
    return device_has_code("a GPU", major, minor, code).ok();
  };
  CHECK(runs("87-real", 8, 7));
  CHECK_FALSE(runs("87-real", 8, 6));
  CHECK_FALSE(runs("87-real", 8, 9));  // a Jetson's code is no card's
  CHECK_FALSE(runs("87-real", 11, 0));
  CHECK_FALSE(runs("110-real", 8, 7));
  CHECK(runs("110-real", 11, 0));
  CHECK(runs("86-real", 8, 9));  // the same generation
  CHECK_FALSE(runs("86-real", 8, 7));
  CHECK_FALSE(runs("89-real", 8, 6));
  CHECK_FALSE(runs("86-real", 12, 0));
  CHECK(runs("86-virtual", 12, 0));  // PTX
  CHECK_FALSE(runs("89-virtual", 8, 6));
  const char* const usual = "87-real,86,89-real,110-real,120-real";
  for (const auto& [major, minor] : {std::pair{8, 6}, {8, 7}, {8, 9}, {9, 0}, {11, 0}, {12, 1}}) {
    CHECK(runs(usual, major, minor));
  }
  CHECK_FALSE(runs(usual, 8, 0));  // too old whatever there is
  CHECK(runs("native", 8, 9));
  CHECK_FALSE(runs("", 8, 9));
}

TEST_CASE("device_code: the sentence names what there is code for", "[platform][device]") {
  const Status status = device_has_code("RTX 4090", 8, 9, "87-real,110-real");
  CHECK(status.code() == Code::not_supported);
  CHECK(says(status, "no code for the GPU RTX 4090 (compute capability 8.9), only for 8.7, 11.0."));
  CHECK(says(status, "--backend cpu"));
}

}  // namespace engram
