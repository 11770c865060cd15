#include "platform/engine_build.h"

#include <sys/resource.h>

#include <chrono>
#include <string>
#include <thread>

#include "platform/file.h"
#include "platform/sanitized.h"
#include "tests/support/archive_files.h"
#include "tests/support/catch.h"
#include "tests/support/fake_engine_library.h"
#include "tests/support/says.h"
#include "tests/support/small_model.h"
#include "tests/support/temp_directory.h"

using namespace engram;
using namespace engram::test;

namespace {

// qemu says yes to a limit of memory and sets none.
bool limits_of_memory_hold() {
  rlimit before{}, after{};
  ENGRAM_CHECK(::getrlimit(RLIMIT_DATA, &before) == 0);
  const rlimit wanted{.rlim_cur = rlim_t{1} << 40, .rlim_max = before.rlim_max};
  ENGRAM_CHECK(::setrlimit(RLIMIT_DATA, &wanted) == 0 && ::getrlimit(RLIMIT_DATA, &after) == 0);
  ENGRAM_CHECK(::setrlimit(RLIMIT_DATA, &before) == 0);
  return after.rlim_cur == wanted.rlim_cur;
}

}  // namespace

TEST_CASE("an engine is built in a child process that tells how far it is",
          "[platform][engine_build][child]") {
  const TempDirectory folder;
  const EngineRequest request = small_request(folder);
  std::vector<BuildState> states;
  const auto engine =
      build_engine(FakeEngineLibrary(), request,
                   {.on_progress = [&](const BuildState& state) { states.push_back(state); }});
  INFO(engine.status().what());
  REQUIRE(engine.ok());
  const std::string text(reinterpret_cast<const char*>(engine.value().data()),
                         engine.value().size());
  CHECK(text.rfind("half ", 0) == 0);
  CHECK(says(text, "Cast"));  // what was built is the model in half
  REQUIRE(states.size() == 12);
  CHECK(states[0].fraction == 0);  // it begins
  CHECK(states[0].seconds_left < 0);
  for (std::size_t i = 1; i < states.size(); ++i) {
    CHECK(states[i].fraction > states[i - 1].fraction);
    CHECK(states[i].seconds_left >= 0);
  }
  CHECK(states.back().fraction == 1);
  CHECK(states.back().seconds_left == 0);

  EngineRequest in_float = request;
  in_float.precision = Precision::full;
  const auto other = build_engine(FakeEngineLibrary(), in_float);
  REQUIRE(other.ok());
  const auto model = read_file(request.model, 1 << 20);
  REQUIRE(model.ok());
  CHECK(other.value().size() == model.value().size() + std::string("float ").size());
}

TEST_CASE("whatever happens to the child is a sentence that names the model",
          "[platform][engine_build][child]") {
  const TempDirectory folder;
  const EngineRequest request = small_request(folder);
  struct Wrong {
    const char* library;
    Code code;
    const char* words;
  };
  const Wrong wrongs[] = {
      {"fake:crash", Code::device_failure, "crashed (Aborted)"},
      {"fake:silent", Code::internal, "without a word (exit code 7)"},
      {"fake:throws", Code::internal, "a tactic was lost"},
      {"fake:refuses", Code::bad_data, "the operator Foo is not supported"},
      {"unknown", Code::not_supported, "this program has no unknown"},
  };
  for (const Wrong& wrong : wrongs) {
    const auto engine = build_engine(FakeEngineLibrary(wrong.library), request);
    REQUIRE_FALSE(engine.ok());
    INFO(engine.status().what());
    CHECK(engine.status().code() == wrong.code);
    CHECK(says(engine.status(), wrong.words));
    if (wrong.code != Code::not_supported) CHECK(says(engine.status(), "model.onnx"));
  }
  EngineRequest absent = request;
  absent.model = folder / "absent.onnx";
  CHECK(build_engine(FakeEngineLibrary(), absent).status().code() == Code::not_found);
  REQUIRE(replace_file(folder / "damaged.onnx", bytes_of("\x08\x07nonsense")).ok());
  absent.model = folder / "damaged.onnx";
  CHECK(build_engine(FakeEngineLibrary(), absent).status().code() == Code::bad_data);
}

TEST_CASE("a build that wants too much memory ends, and nothing else does",
          "[platform][engine_build][child]") {
  if (kSanitized) return;  // the limit is not set under sanitizers
  if (!limits_of_memory_hold()) {
    WARN("SKIPPED: this machine (an emulator?) knows no limits of memory");
    return;
  }
  const TempDirectory folder;
  EngineRequest request = small_request(folder);
  request.memory = std::int64_t{512} << 20;
  const auto engine = build_engine(FakeEngineLibrary("fake:hungry"), request);
  INFO(engine.status().what());
  CHECK(engine.status().code() == Code::out_of_memory);
  CHECK(says(engine.status(), "needs more than 512 MB"));
}

TEST_CASE("a build leaves half of what a small device has", "[platform][engine_build]") {
  constexpr std::int64_t kGiB = 1 << 30;
  CHECK(usual_build_memory(30 * kGiB) == 4 * kGiB);
  CHECK(usual_build_memory(3 * kGiB) == 3 * kGiB / 2);  // an orin-nano-4gb
  CHECK(usual_build_memory(0) == 4 * kGiB);             // the system does not say
}

TEST_CASE("a build is given up when its time is up or it shall stop",
          "[platform][engine_build][child]") {
  const TempDirectory folder;
  const EngineRequest request = small_request(folder);
  const FakeEngineLibrary slow("fake:slow");  // a minute
  const auto late = build_engine(slow, request, {.seconds = 1});
  CHECK(says(late.status(), "longer than 1 s"));

  std::atomic<bool> stop = false;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    stop = true;
  });
  const auto stopped = build_engine(slow, request, {.stop = &stop});
  other.join();
  CHECK(stopped.status().code() == Code::busy);
}
