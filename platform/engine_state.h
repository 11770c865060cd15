// How far a GPU's engine has come, for whoever shows it: the camera app, its page, its service.
#pragma once

#include <cstdint>
#include <string>

namespace engram {

struct EngineState {
  enum class Kind : std::uint8_t {
    none,      // no GPU, or it is not to be used: the CPU answers
    opening,   // looked for among those that were built before; the CPU answers
    building,  // by a child process; the CPU answers
    answers,   // the GPU does
    given_up,  // the CPU answers, and `why` says why
  };
  Kind kind = Kind::none;
  double fraction = 0;       // of the building, 0..1
  double seconds_left = -1;  // -1: too early to tell
  std::string device = {};   // "Orin, compute 8.7, TensorRT 10.3.0"
  std::string why = {};      // a sentence
};

}  // namespace engram
