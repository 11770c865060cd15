// One parser under fuzzing: tests/fuzz/<name>_fuzz.cpp defines these two functions and is found by
// CMake. A target must survive any bytes; what it returns is always 0.
//
//   fuzz_<name> [executions [seed]]   our own driver: seeds, then mutations of them; in ctest
//   fuzz_<name> --write-seeds DIR     the seeds as files, a corpus for libFuzzer
//   libfuzzer_<name> DIR              clang's libFuzzer, with -DENGRAM_FUZZ=ON (preset `fuzz`)
//
// tools/test --tier fuzz does the second and then the third.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

// At least one well-formed input: mutations of it reach further than noise does.
std::vector<std::string> fuzz_seeds();
