// "Did you mean ...?"
#pragma once

#include <span>
#include <string>

namespace engram {

// The name that is at most two slips of the finger away from `word`, and less than half of itself;
// empty: none is.
std::string nearest_name(const std::string& word, std::span<const std::string> names);

}  // namespace engram
