// Features that a learner refuses: of another width, NaN, infinite. Each with a sentence.
#pragma once

#include <cstdint>

#include "platform/matrix_view.h"
#include "platform/status.h"

namespace engram {

// invalid_argument: `features` (B, L) are not `width` wide.
Status check_width(MatrixView<const float> features, int width);

// That, and bad_data: a value is NaN or infinite. Looks at every one.
Status check_features(MatrixView<const float> features, int width);

// bad_data, with the same sentence, if `quantise` saw one: `not_finite` is what it wrote of some of
// the rows. If not, the features are not looked at: what a device computed and reads again need not
// come to the CPU in between.
Status check_finite(MatrixView<const float> features, MatrixView<const std::int32_t> not_finite);

}  // namespace engram
