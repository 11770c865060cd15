#include "platform/second_try.h"

#include <memory>
#include <new>
#include <string>

#include "tests/support/catch.h"

namespace engram {
namespace {

const Status kLost(Code::device_failure, "lost");

}  // namespace

TEST_CASE("second try: only of what failed and is mended", "[platform][second_try]") {
  int calls = 0, asked = 0;
  const auto fails_once = [&]() -> Status { return ++calls == 1 ? kLost : Status(); };
  bool is_mended = true;
  const auto mended = [&](const Status& why) {
    ++asked;
    CHECK(why.what() == std::string("lost"));
    return is_mended;
  };

  CHECK(second_try(fails_once, "-", mended).ok());
  CHECK((calls == 2 && asked == 1));
  CHECK(second_try(fails_once, "-", mended).ok());  // at once
  CHECK((calls == 3 && asked == 1));
  calls = 0;
  is_mended = false;
  CHECK(second_try(fails_once, "-", mended).what() == std::string("lost"));
  CHECK((calls == 1 && asked == 2));
}

TEST_CASE("second try: not a third one", "[platform][second_try]") {
  int calls = 0;
  const auto fails = [&]() -> Result<int> {
    return Status(Code::device_failure, std::to_string(++calls));
  };
  const Result<int> outcome = second_try(fails, "-", [](const Status&) { return true; });
  CHECK(outcome.status().what() == std::string("2"));
  CHECK(calls == 2);
}

TEST_CASE("second try: memory that ran out is a failure like others", "[platform][second_try]") {
  int calls = 0;
  const auto runs_out = [&]() -> Result<std::unique_ptr<int>> {  // a value that only moves
    if (++calls == 1) throw std::bad_alloc();
    return std::make_unique<int>(7);
  };
  Result<std::unique_ptr<int>> outcome = second_try(runs_out, "none left", [](const Status& why) {
    return why.code() == Code::out_of_memory && why.what() == std::string("none left");
  });
  REQUIRE(outcome.ok());
  CHECK(**outcome == 7);

  calls = 0;
  const auto mends_without_memory = [](const Status&) -> bool { throw std::bad_alloc(); };
  outcome = second_try(runs_out, "none left", mends_without_memory);
  CHECK(outcome.status().code() == Code::out_of_memory);
  CHECK(calls == 1);
}

}  // namespace engram
