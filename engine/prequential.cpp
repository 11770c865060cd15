#include "engine/prequential.h"

#include <array>
#include <cmath>

#include "engine/byte_io.h"
#include "platform/finite.h"

namespace engram {
namespace {

constexpr std::uint32_t kMostClasses = 1'000'000;

std::array<float, 6> floats_of(const ScoreSummary& one) {
  return {one.best, one.second, one.rest_mean, one.rest_variance, one.own, one.leverage};
}

void put(ByteWriter& bytes, const ScoreSummary& one) {
  for (const float value : floats_of(one)) bytes.put(value);
  bytes.put(std::uint32_t(one.classes));
  bytes.put(std::int32_t(one.group));
  bytes.put(std::int64_t(one.samples));
}

// False: not a summary.
bool take(ByteReader& bytes, bool known, ScoreSummary& one) {
  for (float* value :
       {&one.best, &one.second, &one.rest_mean, &one.rest_variance, &one.own, &one.leverage}) {
    *value = bytes.take<float>();
    if (!std::isfinite(*value)) return false;
  }
  const auto classes = bytes.take<std::uint32_t>();
  one.classes = int(classes);
  one.group = bytes.take<std::int32_t>();
  one.samples = bytes.take<std::int64_t>();
  one.known = known;
  return !bytes.failed() && classes <= kMostClasses && one.rest_variance >= 0 &&
         one.leverage >= 0 && one.samples >= 0;
}

}  // namespace

void Prequential::Ring::add(const ScoreSummary& example) {
  if (examples.size() < kRoom) {
    examples.push_back(example);
    return;
  }
  examples[oldest] = example;
  oldest = (oldest + 1) % kRoom;
}

const ScoreSummary& Prequential::Ring::by_age(std::size_t i) const {
  return examples[(oldest + i) % examples.size()];
}

void Prequential::reserve() {
  known_.examples.reserve(kRoom);
  unknown_.examples.reserve(kRoom);
}

void Prequential::add(const ScoreSummary& example) {
  if (!are_finite(floats_of(example))) return;
  (example.known ? known_ : unknown_).add(example);
}

std::vector<ScoreSummary> newer(std::span<const ScoreSummary> examples, std::int64_t samples,
                                std::size_t fewest) {
  std::vector<ScoreSummary> some;
  for (const ScoreSummary& one : examples) {
    if (one.samples >= samples / 2) some.push_back(one);
  }
  if (some.size() < fewest) some.assign(examples.begin(), examples.end());
  return some;
}

std::vector<std::byte> Prequential::save() const {
  ByteWriter bytes;
  bytes.put(std::uint32_t(known_.examples.size()));
  bytes.put(std::uint32_t(unknown_.examples.size()));
  for (const Ring* ring : {&known_, &unknown_}) {
    for (std::size_t i = 0; i < ring->examples.size(); ++i) put(bytes, ring->by_age(i));
  }
  return bytes.take();
}

bool Prequential::load(std::span<const std::byte> section) {
  ByteReader bytes(section);
  const std::size_t known = bytes.take<std::uint32_t>(), unknown = bytes.take<std::uint32_t>();
  if (bytes.failed() || known > kRoom || unknown > kRoom) return false;
  Prequential loaded;
  for (std::size_t i = 0; i < known + unknown; ++i) {
    ScoreSummary one;
    if (!take(bytes, i < known, one)) return false;
    loaded.add(one);
  }
  if (bytes.left() != 0) return false;
  *this = std::move(loaded);
  return true;
}

bool Prequential::operator==(const Prequential& other) const {
  return save() == other.save();
}

}  // namespace engram
