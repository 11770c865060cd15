// What a saved training belongs to, in 64 bits each: against mistakes, not against attacks.
#pragma once

#include <cstdint>

#include "engine/adapt_training.h"

namespace engram {

std::uint64_t digest_of(const VitModel& model);  // shape and every weight
std::uint64_t digest_of(
    const AdaptData& data);  // classes, labels, what is held out; not the pixels

}  // namespace engram
