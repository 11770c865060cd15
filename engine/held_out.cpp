#include "engine/held_out.h"

#include <algorithm>

#include "platform/philox.h"

namespace engram {

std::vector<int> choose_held_out(std::span<const int> labels, int classes, std::uint64_t seed) {
  struct Drawn {
    std::uint64_t number;
    int sample;
    bool operator<(const Drawn& other) const {
      return number != other.number ? number < other.number : sample < other.sample;
    }
  };
  std::vector<std::vector<Drawn>> by_class(static_cast<std::size_t>(classes));
  for (int i = 0; i < int(labels.size()); ++i) {
    const auto label = std::size_t(labels[std::size_t(i)]);
    const auto place = std::uint32_t(by_class[label].size());  // within its class
    const PhiloxWords words =
        philox({place, std::uint32_t(label), 0, std::uint32_t(PhiloxStream::held_out)}, seed);
    by_class[label].push_back({std::uint64_t(words[0]) << 32 | words[1], i});
  }
  std::vector<int> chosen;
  for (std::vector<Drawn>& samples : by_class) {
    const int count = int(samples.size());
    if (count < kFewestToHoldOut) continue;
    std::sort(samples.begin(), samples.end());
    const int wanted = std::max(1, (count + 5) / 10);
    for (int i = 0; i < wanted; ++i) chosen.push_back(samples[std::size_t(i)].sample);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace engram
