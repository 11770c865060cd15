#include "engine/saved_sections.h"

#include <cmath>

#include <fmt/format.h>

#include "engine/byte_io.h"

namespace engram {
namespace {

template <class Real>
bool only_finite(std::span<const std::byte> section) {
  ByteReader bytes(section);
  bool finite = true;
  while (bytes.left() > 0) finite &= std::isfinite(bytes.take<Real>());
  return finite;
}

Result<std::span<const std::byte>> numbers(const SnapshotReader& reader, const char* name,
                                           std::size_t bytes,
                                           bool (*fits)(std::span<const std::byte>)) {
  ENGRAM_ASSIGN(const auto section, reader.section(name));
  if (section.size() != bytes || !fits(section)) {
    return damaged(reader, fmt::format("section {} does not fit the learner", name));
  }
  return section;
}

}  // namespace

Status damaged(const SnapshotReader& reader, std::string what) {
  while (!what.empty() && what.back() == '.') what.pop_back();  // of a sentence that goes on here
  return Status(
      Code::bad_data,
      fmt::format("{}: {}. The file was not changed; restore it from a copy, or learn anew.",
                  reader.path(), what));
}

bool all_finite(std::span<const std::byte> floats) {
  return only_finite<float>(floats);
}

bool all_whole(std::span<const std::byte> floats) {
  constexpr float kMost = 0x1p62f;
  ByteReader bytes(floats);
  bool whole = true;
  while (whole && bytes.left() > 0) {
    const auto value = bytes.take<float>();
    whole = std::fabs(value) <= kMost && float(std::int64_t(value)) == value;
  }
  return whole;
}

Result<std::span<const std::byte>> floats(const SnapshotReader& reader, const char* name,
                                          std::size_t count,
                                          bool (*fits)(std::span<const std::byte>)) {
  return numbers(reader, name, count * sizeof(float), fits);
}

Result<std::span<const std::byte>> doubles(const SnapshotReader& reader, const char* name,
                                           std::size_t count) {
  return numbers(reader, name, count * sizeof(double), only_finite<double>);
}

Result<SavedSamples> samples_of(const SnapshotReader& reader, const char* rows, const char* classes,
                                std::size_t row_bytes, std::size_t class_count) {
  SavedSamples samples;
  ENGRAM_ASSIGN(samples.rows, reader.section(rows));
  ENGRAM_ASSIGN(const auto indices, reader.section(classes));
  const std::size_t count = indices.size() / sizeof(std::int32_t);
  if (indices.size() % sizeof(std::int32_t) != 0 || samples.rows.size() != count * row_bytes) {
    return damaged(reader, fmt::format("sections {} and {} do not fit the learner", rows, classes));
  }
  samples.classes.resize(count);
  ByteReader bytes(indices);
  for (std::int32_t& index : samples.classes) {
    index = bytes.take<std::int32_t>();
    if (index < 0 || std::size_t(index) >= class_count) {
      return damaged(reader, fmt::format("section {} names a class that does not exist", classes));
    }
  }
  return samples;
}

Result<std::vector<std::int64_t>> ids_of(const SnapshotReader& reader, const char* name,
                                         std::size_t count, std::int64_t before,
                                         std::int64_t next) {
  ENGRAM_ASSIGN(const auto section, reader.section(name));
  if (section.size() != count * sizeof(std::int64_t)) {
    return damaged(reader, fmt::format("section {} does not fit the learner", name));
  }
  std::vector<std::int64_t> ids(count);
  ByteReader bytes(section);
  for (std::int64_t& id : ids) {
    id = bytes.take<std::int64_t>();
    if (id <= before || id >= next) {
      return damaged(reader, "its samples are not in order");
    }
    before = id;
  }
  return ids;
}

}  // namespace engram
