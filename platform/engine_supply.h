// An engine for a model, by the shortest way: from the cache, else built and kept.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "platform/engine_build.h"
#include "platform/engine_library.h"
#include "platform/file.h"
#include "platform/status.h"

namespace engram {

struct EngineOrder {
  EngineLibrary* library = nullptr;
  std::string cache;  // folder of the engines
  FileSystem* files = &real_files();
  std::string name = "NAME";  // of the model, for advice
  std::string model_sha256;   // of request.model
  EngineRequest request;
  bool may_build = true;   // false: only what the cache has
  bool try_again = false;  // although it was refused before: somebody asks for it
  BuildOptions build = {};
  // Sentences about what did not stop us: no cache, an engine that was thrown away, float instead
  // of half, a refusal that could not be kept.
  std::function<void(const std::string&)> on_note = {};
};

// The engine, open on the GPU. not_found: there is none, and it may not be built. A failure that may come
// again is kept with its reason, and is the answer for a day (not_supported), without minutes of
// building at every start: or until `try_again`, or until library or driver are others. An engine that
// is kept is tried first in any case.
Result<std::unique_ptr<Backbone>> supply_engine(const EngineOrder& order);

}  // namespace engram
