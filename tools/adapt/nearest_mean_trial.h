// How well a backbone's features tell pictures apart that were held out: nearest class means of the
// others, by cosine. The plainest head there is, so that a gain is the backbone's.
#pragma once

#include <vector>

#include "engine/feature_extractor.h"
#include "platform/status.h"
#include "tools/adapt/adapt_checkpoint.h"
#include "tools/adapt/training_pictures.h"
#include "tools/console/console.h"

namespace engram {

// held_out: samples that are asked about; the others make the means. count 0: none is held out.
Result<RightAnswers> try_nearest_mean(FeatureExtractor& extractor, const TrainingPictures& pictures,
                                      const std::vector<int>& held_out, const char* what,
                                      const Console& console);

}  // namespace engram
