#include "tools/live/burst.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/teaching.h"

namespace engram {

double likeness(std::span<const float> features, std::span<const float> others) {
  double product = 0, square = 0, other_square = 0;
  for (std::size_t i = 0; i < features.size(); ++i) {
    product += double(features[i]) * others[i];
    square += double(features[i]) * features[i];
    other_square += double(others[i]) * others[i];
  }
  if (!(square > 0) || !(other_square > 0)) return 0;
  const double cosine = std::clamp(product / std::sqrt(square * other_square), -1.0, 1.0);
  const double angle = std::acos(cosine);
  return (std::sin(angle) + (std::numbers::pi - angle) * cosine) / std::numbers::pi;
}

bool Burst::is_near_duplicate(const std::string& label, std::span<const float> features) const {
  return label == label_ && std::any_of(last_.begin(), last_.end(), [&](const auto& before) {
           return before.size() == features.size() && likeness(features, before) >= kDuplicate;
         });
}

void Burst::learned(const std::string& label, std::span<const float> features, bool goes_on) {
  if (!goes_on || label != label_) last_.clear();
  label_ = label;
  last_.emplace_back(features.begin(), features.end());
  if (last_.size() > kRemembered) last_.pop_front();
}

}  // namespace engram
