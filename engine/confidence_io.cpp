#include "engine/confidence_io.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "engine/byte_io.h"
#include "engine/leverage.h"

namespace engram {
namespace {

constexpr std::uint32_t kFitted = 1, kInformative = 2, kUsesLeverage = 4, kAllFlags = 7;

}  // namespace

std::vector<std::byte> encode(const Confidence& confidence) {
  const KnownModel& known = confidence.known;
  ByteWriter bytes;
  bytes.put(std::uint32_t((confidence.fitted ? kFitted : 0U) |
                          (known.informative ? kInformative : 0U) |
                          (known.uses_leverage ? kUsesLeverage : 0U)));
  bytes.put(std::uint32_t(known.known));
  bytes.put(std::uint32_t(known.unknown));
  for (const float value : {confidence.beta, known.offset, known.weight, known.margin_weight,
                            known.area, known.area_of_best}) {
    bytes.put(value);
  }
  for (const float value : known.quantiles) bytes.put(value);
  return bytes.take();
}

std::optional<Confidence> parse_confidence(std::span<const std::byte> section) {
  ByteReader bytes(section);
  Confidence confidence;
  KnownModel& known = confidence.known;
  const auto flags = bytes.take<std::uint32_t>();
  const auto known_count = bytes.take<std::uint32_t>(), unknown_count = bytes.take<std::uint32_t>();
  bool finite = true;
  const auto take = [&](float& value) {
    value = bytes.take<float>();
    finite = finite && std::isfinite(value);
  };
  take(confidence.beta);
  for (float* value :
       {&known.offset, &known.weight, &known.margin_weight, &known.area, &known.area_of_best}) {
    take(*value);
  }
  for (float& value : known.quantiles) take(value);
  if (bytes.failed() || bytes.left() != 0 || !finite || flags > kAllFlags ||
      known_count > INT32_MAX || unknown_count > INT32_MAX || !(confidence.beta > 0) ||
      !(known.weight > 0) || known.margin_weight < 0 ||
      !std::is_sorted(known.quantiles.begin(), known.quantiles.end())) {
    return std::nullopt;
  }
  confidence.fitted = (flags & kFitted) != 0;
  known.informative = (flags & kInformative) != 0;
  known.uses_leverage = (flags & kUsesLeverage) != 0;
  known.known = int(known_count);
  known.unknown = int(unknown_count);
  return confidence;
}

Status write_judging(SnapshotWriter& writer, const Readout& readout) {
  ENGRAM_TRY(writer.begin_section("confidence"));
  ENGRAM_TRY(writer.write(encode(readout.confidence)));
  if (readout.probes != nullptr) {
    ENGRAM_TRY(writer.begin_section("probes"));
    ENGRAM_TRY(writer.write(std::as_bytes(std::span(readout.probes->scales))));
    ENGRAM_TRY(writer.write(std::as_bytes(std::span(readout.probes->values))));
  }
  if (readout.said_before.empty()) return {};
  ENGRAM_TRY(writer.begin_section("examples"));
  return writer.write(readout.said_before.save());
}

Result<bool> read_judging(const SnapshotReader& reader, Readout& readout) {
  if (reader.has("confidence")) {
    ENGRAM_ASSIGN(const auto section, reader.section("confidence"));
    const std::optional<Confidence> parsed = parse_confidence(section);
    if (!parsed) return false;
    readout.confidence = *parsed;
  }
  if (reader.has("probes")) {
    ENGRAM_ASSIGN(const auto section, reader.section("probes"));
    LeverageProbes probes;
    probes.scales.resize(kLeverageProbes);
    probes.values.resize(std::size_t(kLeverageProbes) * std::size_t(readout.hidden_units));
    const std::size_t scale_bytes = probes.scales.size() * sizeof(float);
    if (section.size() != scale_bytes + probes.values.size() * sizeof(std::int16_t)) return false;
    std::memcpy(probes.scales.data(), section.data(), scale_bytes);
    std::memcpy(probes.values.data(), section.data() + scale_bytes, section.size() - scale_bytes);
    if (!std::all_of(probes.scales.begin(), probes.scales.end(),
                     [](float v) { return std::isfinite(v) && v > 0; })) {
      return false;
    }
    readout.probes = std::make_shared<const LeverageProbes>(std::move(probes));
  }
  if (readout.confidence.known.uses_leverage && readout.probes == nullptr) return false;
  if (!reader.has("examples")) return true;
  ENGRAM_ASSIGN(const auto section, reader.section("examples"));
  return readout.said_before.load(section);
}

}  // namespace engram
