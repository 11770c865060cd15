// What the benchmarks of the learner are asked for, and how they end.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>

#include "platform/status.h"
#include "platform/threads.h"

namespace engram::bench {

struct Settings {
  int hidden = 10000, samples = 2000, classes = 100, turns = 2;
  bool marks = false;
};

// --hidden=, --samples=, --classes=, --turns=, --threads= and --marks. False: something else was said,
// and the user has been told.
inline bool read_settings(const char* program, int argc, char* argv[], Settings& settings) {
  const std::map<std::string, int*> numbers{{"--hidden", &settings.hidden},
                                            {"--samples", &settings.samples},
                                            {"--classes", &settings.classes},
                                            {"--turns", &settings.turns}};
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const int value = equals == std::string::npos ? 0 : std::atoi(argument.c_str() + equals + 1);
    if (name == "--marks") {
      settings.marks = true;
    } else if (name == "--threads" && value > 0) {
      set_thread_count(value);
    } else if (numbers.contains(name) && value > 0) {
      *numbers.at(name) = value;
    } else {
      std::fprintf(stderr, "%s: %s is not an option; see the top of its source\n", program,
                   argument.c_str());
      return false;
    }
  }
  return true;
}

// The exit code.
inline int finish(const Settings& settings, int missed) {
  if (!settings.marks || missed == 0) return 0;
  std::printf("%d marks missed\n", missed);
  return 1;
}

template <class T>
T must(Result<T> result) {
  ENGRAM_CHECK(result.ok());
  return std::move(result).value();
}
inline void must(const Status& status) {
  ENGRAM_CHECK(status.ok());
}

}  // namespace engram::bench
