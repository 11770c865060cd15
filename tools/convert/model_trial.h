// A stranger's ONNX file is loaded, compiled and run once in a child process with bounded memory
// and time, so that a crash, a hang or a memory blow-up of the parser is a sentence and not our
// end.
//
// The child is this very program started again (/proc/self/exe, no shell), so that it has no
// threads and no memory of ours. main() of every program that calls try_model() must begin with
//
//     if (const auto code = engram::serve_model_trial(argc, argv)) return *code;
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "platform/backbone.h"
#include "platform/status.h"

namespace engram {

struct TrialLimits {
  std::int64_t memory_bytes = std::int64_t{8} << 30;  // address space; not under sanitizers
  int seconds = 120;
};

struct TrialReport {
  int features = 0;  // L
};

// bad_data: what went wrong, in one sentence that names the file. The features of a grey picture
// are checked to be finite.
Result<TrialReport> try_model(const BackboneOptions& options, const TrialLimits& limits = {});

// The child's main; nullopt when this process is not such a child.
std::optional<int> serve_model_trial(int argc, char** argv);

}  // namespace engram
