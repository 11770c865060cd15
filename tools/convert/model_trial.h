// A stranger's ONNX file is loaded, compiled and run in a child process with bounded memory and
// time, so that a crash, a hang or a memory blow-up is a sentence and not our end: first once, on a
// grey picture, then on pictures, for a network may do with one what it does not do with another.
//
// The child is this very program started again (/proc/self/exe, no shell), so that it has no
// threads and no memory of ours. main() of every program that calls these must begin with
//
//     if (const auto code = engram::serve_model_trial(argc, argv)) return *code;
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "engine/calibrate.h"
#include "engine/model_store.h"
#include "platform/backbone.h"
#include "platform/status.h"

namespace engram {

struct TrialLimits {
  std::int64_t memory_bytes = std::int64_t{8} << 30;  // address space; not under sanitizers
  int seconds = 120;                                  // to load it, and for each batch of pictures
  const std::atomic<bool>* stop = nullptr;            // becomes true: the child is killed
};

struct TrialReport {
  int features = 0;  // L
};

// bad_data: what went wrong, in one sentence that names the file. out_of_memory: the child was
// killed, which is not the file's fault. busy: it was stopped. The features of a grey picture are
// checked to be finite. One picture, two threads, whatever the options say.
Result<TrialReport> try_model(const BackboneOptions& options, const TrialLimits& limits = {});

struct ModelMeasurement {
  Calibration calibration;
  int pictures = 0;
};

// The features of CalibrationPictures of pictures_dir, and what they say. The card needs no scales
// yet; `progress` is told how many pictures of how many are done. As above, or what
// CalibrationPictures and calibrate refuse.
Result<ModelMeasurement> measure_model(const StoredModel& model, const std::string& pictures_dir,
                                       int threads,
                                       const std::function<void(int done, int total)>& progress,
                                       const TrialLimits& limits = {});

// The child's main; nullopt when this process is not such a child.
std::optional<int> serve_model_trial(int argc, char** argv);

}  // namespace engram
