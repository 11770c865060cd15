// What `engram classes` says about teaching.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "engine/class_list.h"
#include "engine/teaching.h"

namespace engram {

// Sentences for people, at most `limit` of each kind: confusable pairs, classes with too few
// samples, near-duplicates.
std::vector<std::string> teaching_hints(const std::vector<ClassInfo>& classes,
                                        const Teaching& teaching, std::size_t limit = 5);
// Fields of the object of `engram classes --json`.
nlohmann::ordered_json confusable_json(const std::vector<ClassInfo>& classes,
                                       const Teaching& teaching);
nlohmann::ordered_json duplicates_json(const std::vector<ClassInfo>& classes,
                                       const Teaching& teaching);

}  // namespace engram
