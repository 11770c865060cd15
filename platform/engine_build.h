// Builds an engine in a child process: minutes of work by a library that may want more memory than
// there is, or crash. The child is this very program started again (/proc/self/exe, no shell). main()
// of every program that builds engines must begin with
//
//     if (const auto code = engram::serve_engine_build(argc, argv)) return *code;
//
// and a program that does not builds none: it is told so in a sentence, and uses what was built.
//
// The child may take `memory` bytes of data (RLIMIT_DATA: what it can write to; CUDA reserves
// addresses by the terabyte, so that a limit on addresses would stop it at once). What the driver takes
// for the GPU is not in it, on a Jetson from the same memory: the library is told to work with a quarter
// as much again. The child is the first that
// the kernel ends when memory is short, and dies with its parent. Its engine comes back through an
// anonymous file in memory; it touches no other. Its standard output is lines:
//
//     engram progress 0.42
//     engram good               the engine is there
//     engram bad 4 <sentence>   a Code and why not
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "platform/engine_library.h"
#include "platform/status.h"

namespace engram {

struct BuildState {
  double fraction = 0;       // 0..1
  double seconds = 0;        // since the start
  double seconds_left = -1;  // -1: too early to tell
};
using OnBuild = std::function<void(const BuildState&)>;

struct BuildOptions {
  int seconds = 3600;        // then it is given up
  OnBuild on_progress = {};  // called from the calling thread; first with 0, when it begins
  const std::atomic<bool>* stop = nullptr;  // becomes true: given up
};

// What building may take where nobody says: 4 GiB, or half of what is available if that is less, so that
// a small device goes on with what it does. 0 is available: not known.
std::int64_t usual_build_memory(std::int64_t available_bytes);

// request.memory is the limit. out_of_memory, bad_data, not_supported, device_failure: sentences that
// name the model. busy: it was stopped.
Result<std::vector<std::byte>> build_engine(const EngineLibrary& library,
                                            const EngineRequest& request,
                                            const BuildOptions& options = {});

// The child's main; nullopt when this process is not such a child. `find` gives libraries by name.
using FindLibrary = EngineLibrary* (*)(const std::string& name);
EngineLibrary* find_engine_library(const std::string& name);
std::optional<int> serve_engine_build(int argc, char** argv,
                                      FindLibrary find = find_engine_library);

}  // namespace engram
