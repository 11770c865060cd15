#include "tools/engine_words.h"

#include <cmath>
#include <cstdio>

#include <fmt/format.h>

namespace engram {
namespace {

using Kind = EngineState::Kind;

constexpr const char* kOpening = "opening the GPU's engine";
constexpr const char* kBuilding = "building the GPU's engine: ";
constexpr double kMinute = 60;

// Rough on purpose: a status that changes with every second is no status.
std::string time_left(double seconds) {
  if (seconds < kMinute) return "less than a minute left";
  return fmt::format("about {:.0f} min left", std::ceil(seconds / kMinute));
}

}  // namespace

const char* name(Kind kind) {
  switch (kind) {
    case Kind::none:
      return "none";
    case Kind::opening:
      return "opening";
    case Kind::building:
      return "building";
    case Kind::answers:
      return "answers";
    case Kind::given_up:
      return "given_up";
  }
  return "none";
}

std::string build_words(const EngineState& state) {
  const std::string percent = fmt::format("{:.0f} %", std::floor(100 * state.fraction));
  return state.seconds_left < 0 ? percent : percent + ", " + time_left(state.seconds_left);
}

std::string engine_words(const EngineState& state) {
  switch (state.kind) {
    case Kind::none:
      return "";
    case Kind::opening:
      return fmt::format("{}, the CPU answers", kOpening);
    case Kind::building:
      return fmt::format("{}{}, the CPU answers", kBuilding, build_words(state));
    case Kind::answers:
      return "the GPU answers";
    case Kind::given_up:
      return "without the GPU: " + state.why;
  }
  return "";
}

std::optional<EngineState> coming_engine(const std::string& text) {
  if (text.find(kOpening) != std::string::npos) return EngineState{.kind = Kind::opening};
  const std::size_t begin = text.find(kBuilding);
  if (begin == std::string::npos) return std::nullopt;
  EngineState state{.kind = Kind::building};
  const char* const words = text.c_str() + begin + std::char_traits<char>::length(kBuilding);
  int percent = 0, minutes = 0;
  const int found = std::sscanf(words, "%3d %%, about %6d min left", &percent, &minutes);
  if (found >= 1) state.fraction = percent / 100.0;
  if (found == 2) state.seconds_left = minutes * kMinute;
  return state;
}

}  // namespace engram
