// Whether weights of ours are a graph's, read from it or written as it: our forward against the
// backbone's.
#pragma once

#include <span>

#include "engine/adapt_parameters.h"
#include "engine/feature_extractor.h"
#include "engine/vit_model.h"
#include "platform/image.h"
#include "platform/status.h"

namespace engram {

// The largest |ours - theirs| / |theirs| of a picture's features that is taken for rounding.
inline constexpr double kMostVitDifference = 1e-3;

// `model` as read from the backbone's graph. Pictures: empty for four views of the demo's objects, or drawn ones
// where these are not installed. not_supported: the features differ, so that the graph is not what
// it was read as; the model still works frozen.
Status check_vit(const VitModel& model, FeatureExtractor& backbone,
                 std::span<const Image> pictures = {});

// The largest relative difference itself. adapted: what Phase 1 learned beside `model`; null: nothing.
Result<double> vit_difference(const VitModel& model, FeatureExtractor& backbone,
                              std::span<const Image> pictures,
                              const AdaptParameters* adapted = nullptr);

}  // namespace engram
