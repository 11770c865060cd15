// The tests, and the child processes in which tests try models (tools/convert/model_trial.h) and
// build engines (platform/engine_build.h).
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

#include "platform/engine_build.h"
#include "tests/support/fake_engine_library.h"
#include "tools/convert/model_trial.h"

int main(int argc, char* argv[]) {
  if (const auto code = engram::serve_model_trial(argc, argv)) return *code;
  if (const auto code = engram::serve_engine_build(argc, argv, engram::test::find_fake_library)) {
    return *code;
  }
  return Catch::Session().run(argc, argv);
}
