// A GPU's engine in words: how far it is, for status lines. A service says them to systemd, and who
// follows the service reads them back.
#pragma once

#include <optional>
#include <string>

#include "platform/engine_state.h"

namespace engram {

const char* name(EngineState::Kind kind);  // "building"

// "building the GPU's engine: 41 %, about 2 min left, the CPU answers"; empty where there is no GPU.
std::string engine_words(const EngineState& state);
// "41 %, about 2 min left"; of one that is being built.
std::string build_words(const EngineState& state);

// What engine_words() told somewhere in `text`: that it is being opened or built, how far, and how
// long yet as nearly as the words say. Nothing: neither.
std::optional<EngineState> coming_engine(const std::string& text);

}  // namespace engram
