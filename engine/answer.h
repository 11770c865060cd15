// What a picture probably shows, in words: scores of a readout with their labels, best first.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/judgement.h"
#include "engine/readout.h"

namespace engram {

struct Answer {
  std::string label;
  float score = 0;        // about 1: sure, about 0: no
  float probability = 0;  // that this is what the picture shows
  bool unknown = false;   // of the picture: it probably shows none of the classes
  // Of the picture: probability that it shows one of the classes; none: too little was taught to say.
  std::optional<float> known{};
};

// The `top` classes with the largest scores (K), best first; equal scores in class order. leverage:
// of the readout's probes; 0 where it has none.
std::vector<Answer> best_answers(const Readout& readout, std::span<const float> scores,
                                 float leverage, int top, double false_alarms = kUsualFalseAlarms);

}  // namespace engram
