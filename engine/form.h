// How what was learned is held. Both forms mean the same G and C and give the same digest.
#pragma once

#include <cstdint>

#include "engine/config.h"

namespace engram {

enum class Form : std::uint8_t {
  factored,  // the samples themselves, and their kernel matrix: memory grows with what was learned
  dense,     // G and C: memory is M x M
};
inline const char* name(Form form) {
  return form == Form::factored ? "factored" : "dense";
}

// The most samples that the factored form holds; 0: the dense form from the start. At M / 2 it takes
// 1.5 M^2 bytes beside the rows where the dense one takes 4 M^2, and an eighth of the time to factor.
inline int factored_limit(const LearnerConfig& config) {
  return config.keep_features ? config.hidden_units() / 2 : 0;
}

}  // namespace engram
