// The tests, and the child process in which tests try models (tools/convert/model_trial.h).
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

#include "tools/convert/model_trial.h"

int main(int argc, char* argv[]) {
  if (const auto code = engram::serve_model_trial(argc, argv)) return *code;
  return Catch::Session().run(argc, argv);
}
