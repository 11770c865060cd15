// The backbone of commands that need no state.
#pragma once

#include "engine/feature_extractor.h"
#include "platform/status.h"
#include "tools/session.h"

namespace engram {

inline constexpr const char* kDefaultModel = "efficientnet-lite0";

// The model that --model names, else the default one; from the store.
Result<FeatureExtractor> open_model(const GlobalOptions& options);

}  // namespace engram
