// Two small states, "a" and "b", and the exported file "b.engram", in a folder.
#pragma once

#include <string>
#include <vector>

#include "engine/state_file.h"
#include "tests/support/catch.h"
#include "tests/support/small_store.h"
#include "tests/support/temp_directory.h"

namespace engram::test {

inline std::vector<std::byte> bytes_of(const std::string& file) {
  return read_file(file, std::size_t{1} << 24).value();
}

inline void make_two(const TempDirectory& directory, bool keep_features = true) {
  LearnerConfig config = small_config();
  config.keep_features = keep_features;
  for (const int number : {0, 1}) {
    const std::string state = directory / (number == 0 ? "a" : "b");
    Store store = Store::create(state, config).value();
    REQUIRE(store.learn(small_batch(number)).ok());
    REQUIRE(store.end_task().ok());
    REQUIRE(store.learn(small_batch(10 + number)).ok());
    if (number == 1) REQUIRE(export_state(store, directory / "b.engram", "b").ok());
  }
}

}  // namespace engram::test
