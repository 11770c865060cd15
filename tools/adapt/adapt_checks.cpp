#include "tools/adapt/adapt_checks.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "engine/held_out.h"
#include "platform/arena.h"
#include "tools/console/terminal.h"
#include "tools/console/units.h"

namespace engram {
namespace {

constexpr std::size_t kNamedClasses = 5;

Status too_small(const std::string& found, const std::string& advice) {
  return Status(Code::invalid_argument,
                fmt::format("{} Nothing was changed: the model works as it is, without Phase 1. {}",
                            found, advice));
}

}  // namespace

Status check_first_task(const FirstTask& task, const AdaptSettings& settings) {
  const auto classes = std::int64_t(task.classes.size());
  const std::string pictures = plural(task.trained(), "picture", "pictures");
  if (classes < 2) {
    return too_small(
        classes == 0 ? std::string("No picture could be read.")
                     : fmt::format("All pictures are of one class, \"{}\": Phase 1 learns to tell "
                                   "classes apart, and needs at least two.",
                                   printable(task.classes.front())),
        "Give a folder for each class.");
  }
  if (task.trained() < settings.batch) {
    return too_small(
        fmt::format("{} to train on are fewer than one batch of {}.", pictures, settings.batch),
        "Give more pictures, or a smaller --batch.");
  }
  if (task.trained() < kFewestPictures || task.trained() < kFewestPicturesPerClass * classes) {
    return too_small(
        fmt::format(
            "{} to train on, of {} classes, are too few: Phase 1 would learn them by heart. "
            "It takes at least {} in all and {} a class on average.",
            pictures, classes, kFewestPictures, kFewestPicturesPerClass),
        "Give more pictures.");
  }
  return {};
}

std::string small_classes_note(const FirstTask& task) {
  std::vector<int> sizes(task.classes.size());
  for (const int label : task.labels) ++sizes[std::size_t(label)];
  std::string names;
  std::size_t small = 0;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    if (sizes[k] >= kFewestToHoldOut) continue;
    if (++small > kNamedClasses) continue;
    names += fmt::format("{}{} ({})", small > 1 ? ", " : "", printable(task.classes[k]), sizes[k]);
  }
  if (small == 0) return "";
  if (small > kNamedClasses) names += fmt::format(" and {} more", small - kNamedClasses);
  return fmt::format("Fewer than {} pictures of {}: all of them are trained on, none is held out.",
                     kFewestToHoldOut, names);
}

Status check_room(const std::string& home, std::int64_t bytes) {
  std::error_code error;
  const auto space = std::filesystem::space(home, error);
  if (error || std::int64_t(space.available) >= bytes) return {};  // who cannot say will be asked
  return Status(
      Code::io_failure,
      fmt::format("{} has {} free, and Phase 1 writes up to {} there. Nothing was changed; "
                  "make room, or choose another place with --home.",
                  printable(home), bytes_text(std::int64_t(space.available)), bytes_text(bytes)));
}

std::int64_t usual_adapt_memory() {
  const std::int64_t free = available_memory();
  return free > 0 ? free / 4 * 3 : machine_memory() / 2;
}

}  // namespace engram
