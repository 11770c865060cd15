#include "platform/build_phases.h"

#include <algorithm>

namespace engram {

namespace {

constexpr double kShare = 0.99;  // of what is left, for an outermost phase

}  // namespace

void BuildPhases::start(const std::string& phase, const std::string& parent, int steps) {
  if (open_.count(phase) != 0) return;  // whom it lies in stays as it was: no circles
  open_[phase] = {.parent = open_.count(parent) != 0 ? parent : "", .steps = std::max(steps, 1)};
}

void BuildPhases::step(const std::string& phase, int index) {
  const auto found = open_.find(phase);
  if (found == open_.end()) return;
  found->second.done = std::clamp<double>(index + 1.0, found->second.done, found->second.steps);
}

void BuildPhases::finish(const std::string& phase) {
  const auto found = open_.find(phase);
  if (found == open_.end()) return;
  if (found->second.parent.empty()) {
    before_ += left_ * kShare;
    left_ *= 1 - kShare;
  }
  open_.erase(found);
}

// Its steps, and the part of the current one that phases within it have done.
double BuildPhases::inside(const std::string& name, const Phase& phase) const {
  double current = 0;
  for (const auto& [child, one] : open_) {
    if (one.parent == name && child != name) current = std::max(current, inside(child, one));
  }
  return std::min(1.0, (phase.done + std::min(current, 0.999)) / phase.steps);
}

double BuildPhases::fraction() {
  double now = 0;
  for (const auto& [name, phase] : open_) {
    if (phase.parent.empty()) now = std::max(now, inside(name, phase));
  }
  shown_ = std::clamp(before_ + left_ * kShare * now, shown_, 1.0);
  return shown_;
}

}  // namespace engram
