// What a readout's scores mean: the best class, how probable it is, and whether it is any of them.
#pragma once

#include <optional>
#include <span>

#include "engine/readout.h"

namespace engram {

constexpr double kUsualFalseAlarms = 0.05;  // known things called unknown, of all known things

struct Prediction {
  int class_index = -1;   // of the best score, into the readout's classes; -1: nothing was learned
  float score = 0;        // about 1 for a sure answer, about 0 for none
  float probability = 0;  // of that class (engine/confidence.h)
  // Probability that it is one of the classes at all; none: too little was taught to say. That of the
  // class then takes it for sure.
  std::optional<float> known{};
  bool unknown = false;  // none of the classes, at the chosen rate of false alarms
};

// scores (K). leverage: of the readout's probes; 0 where it has none. Allocates nothing.
Prediction judge(const Readout& readout, std::span<const float> scores, float leverage,
                 double false_alarms = kUsualFalseAlarms);

}  // namespace engram
