// What a face says of a sight, in words.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "tools/live/live.h"

namespace engram {

struct Verdict {
  enum class Kind {
    none,        // no picture, nothing learned, or paused
    unknown,     // none of the classes
    background,  // nothing is shown
    guess,       // the nearest class, whatever it is: too little was shown to tell what is unknown
    known,
  };
  Kind kind = Kind::none;
  std::string label;            // the best one; of kind none: empty
  double probability = 0;       // of it
  bool counts_unknown = false;  // its probability counts that it may be none of the classes
};

Verdict verdict(const Sight& sight);
// "mug  97 %", "mug?" of a guess, "unknown (closest: mug 31 %)", "nothing"; empty for none.
std::string verdict_text(const Verdict& verdict);
nlohmann::ordered_json verdict_json(const Sight& sight);
// Its field "known": null where too little was taught to say, 0 where nothing was.
nlohmann::ordered_json known_json(const Sight& sight);

// The classes that the keys 1 to 9 mean, in order: all but the background.
std::vector<LiveClass> numbered_classes(const LiveState& state);

}  // namespace engram
