// Whether pictures can be learned at all, asked before anything is changed.
#pragma once

#include <string>
#include <vector>

#include "engine/feature_extractor.h"
#include "platform/status.h"
#include "tools/console/console.h"

namespace engram {

// bad_data when any cannot be read or has features that are not finite; each is warned of.
Status check_all_usable(const std::vector<std::string>& paths, FeatureExtractor& extractor,
                        const Console& console);
// bad_data when none can be read; stops at the first that can.
Status check_any_readable(const std::vector<std::string>& paths, const Console& console);

}  // namespace engram
