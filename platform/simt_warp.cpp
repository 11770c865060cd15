// Shuffles, votes and sums of a warp.
#include "platform/simt_warp.h"

#include <bit>

namespace engram::simt {
namespace {

template <class T>
T input(const Lane& lane) {
  T value;
  std::memcpy(&value, lane.in, sizeof value);
  return value;
}
template <class T>
void output(Lane& lane, const T& value) {
  std::memcpy(lane.out, &value, sizeof value);
}

template <class Work>
void for_each_lane(unsigned mask, Work&& work) {
  for (unsigned rest = mask; rest != 0; rest &= rest - 1) work(std::countr_zero(rest));
}

// The lane whose value `lane` gets. A width below 32 cuts the warp into parts that keep to themselves.
int source_of(int lane, const ShuffleInput& in) {
  const int first = lane & ~(in.width - 1), last = first + in.width - 1;
  switch (in.kind) {
    case Shuffle::from_lane:
      return first + (in.argument & (in.width - 1));
    case Shuffle::up:
      return lane - in.argument < first ? lane : lane - in.argument;
    case Shuffle::down:
      return lane + in.argument > last ? lane : lane + in.argument;
    case Shuffle::exchange:
      return (lane ^ in.argument) > last ? lane : lane ^ in.argument;
  }
  return lane;
}

}  // namespace

void combine_shuffle(Lane* lanes, unsigned mask, std::string& error) {
  for_each_lane(mask, [&](int lane) {
    const auto in = input<ShuffleInput>(lanes[lane]);
    if (in.width < 1 || in.width > 32 || !std::has_single_bit(static_cast<unsigned>(in.width))) {
      error = "the width is not a power of two up to 32";
      return;
    }
    const int source = source_of(lane, in);
    if ((mask >> source & 1u) == 0) {
      error = "lane " + std::to_string(lane) + " reads lane " + std::to_string(source) +
              ", which takes no part";
      return;
    }
    output(lanes[lane], input<ShuffleInput>(lanes[source]).value);
  });
}

void combine_ballot(Lane* lanes, unsigned mask, std::string&) {
  unsigned votes = 0;
  for_each_lane(mask, [&](int lane) {
    if (input<int>(lanes[lane]) != 0) votes |= 1u << lane;
  });
  for_each_lane(mask, [&](int lane) { output(lanes[lane], votes); });
}

void combine_sum(Lane* lanes, unsigned mask, std::string&) {
  unsigned sum = 0;
  for_each_lane(mask, [&](int lane) { sum += input<unsigned>(lanes[lane]); });
  for_each_lane(mask, [&](int lane) { output(lanes[lane], sum); });
}

}  // namespace engram::simt
