// Whether a first task can help a backbone, and what memory there is for it: asked before anything long
// is begun. Refusals say what was found, that nothing was changed, and what to do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/adapt_settings.h"
#include "platform/status.h"

namespace engram {

// Pictures of a first task by class.
struct FirstTask {
  std::vector<std::string> classes;
  std::vector<int> labels;    // of each picture
  std::vector<int> held_out;  // pictures that are not trained on, in order

  int trained() const { return int(labels.size() - held_out.size()); }
};

inline constexpr int kFewestPictures = 16;  // in all: a feature scale is measured on them
inline constexpr int kFewestPicturesPerClass =
    5;  // on average: else every class is learned by heart

// invalid_argument: one class; fewer pictures than one batch, than kFewestPictures in all or than
// kFewestPicturesPerClass a class: what would be learned is the pictures, not their classes.
Status check_first_task(const FirstTask& task, const AdaptSettings& settings);
// One sentence about the classes that are too small to hold a picture out; empty: there are none.
std::string small_classes_note(const FirstTask& task);

// io_failure: the file system of `home` has less room than `bytes`, and how much is needed.
Status check_room(const std::string& home, std::int64_t bytes);

// Where nobody says: three quarters of what other programs leave.
std::int64_t usual_adapt_memory();

}  // namespace engram
