#include "engine/store_files.h"

#include <cstring>
#include <unordered_set>

#include <fmt/format.h>

#include "engine/byte_io.h"
#include "engine/confidence_io.h"
#include "engine/label.h"
#include "engine/lambda_range.h"
#include "platform/finite.h"

namespace engram {

namespace {

Status impossible(const SnapshotReader& reader, const char* section) {
  return Status(Code::bad_data,
                fmt::format("{}: its section '{}' makes no sense. Nothing was changed.",
                            reader.path(), section));
}

Status write_section(SnapshotWriter& writer, const char* name, std::span<const std::byte> bytes) {
  ENGRAM_TRY(writer.begin_section(name));
  return writer.write(bytes);
}

// Strict: names, each once, and nothing behind them.
Result<std::vector<std::string>> parse_labels(const SnapshotReader& reader, std::size_t count) {
  ENGRAM_ASSIGN(const auto section, reader.section("classes"));
  std::vector<std::string> labels;
  std::unordered_set<std::string> seen;
  ByteReader bytes(section);
  while (bytes.left() > 0 && labels.size() < count) {
    labels.push_back(take_short_text(bytes));
    if (!check_label(labels.back()).ok() || !seen.insert(labels.back()).second) {
      return impossible(reader, "classes");
    }
  }
  if (bytes.failed() || bytes.left() != 0 || labels.size() != count) {
    return impossible(reader, "classes");
  }
  return labels;
}

Status parse_weights(const SnapshotReader& reader, const char* name, std::size_t count,
                     SharedVector<float>& weights) {
  ENGRAM_ASSIGN(const auto section, reader.section(name));
  if (section.size() != count * sizeof(float)) return impossible(reader, name);
  weights.resize(count);
  if (count > 0) std::memcpy(weights.data(), section.data(), section.size());
  return are_finite(weights) ? Status() : impossible(reader, name);
}

}  // namespace

StorePaths::StorePaths(const std::string& directory)
    : directory(directory),
      snapshot(directory + "/snapshot"),
      journal(directory + "/journal"),
      readout(directory + "/readout"),
      lock(directory + "/lock") {}

Status write_mark(SnapshotWriter& writer, const StoreMark& mark) {
  ByteWriter bytes;
  bytes.put(mark.state);
  bytes.put(mark.sequence);
  bytes.put(mark.ended);
  put_short_text(bytes, mark.digest);
  return write_section(writer, "store", bytes.bytes());
}

Result<StoreMark> read_mark(const SnapshotReader& reader) {
  ENGRAM_ASSIGN(const auto section, reader.section("store"));
  ByteReader bytes(section);
  StoreMark mark;
  mark.state = bytes.take<std::uint64_t>();
  mark.sequence = bytes.take<std::int64_t>();
  mark.ended = bytes.take<std::int64_t>();
  mark.digest = take_short_text(bytes);
  if (bytes.failed() || bytes.left() != 0 || mark.ended < 0 || mark.sequence < mark.ended) {
    return impossible(reader, "store");
  }
  return mark;
}

Status write_state(SnapshotWriter& writer, const StoreMark& mark, const Learner& learner,
                   const History& history) {
  ENGRAM_TRY(write_mark(writer, mark));
  ENGRAM_TRY(learner.save(writer));
  return write_history(writer, history);
}

Status write_readout(SnapshotWriter& writer, const StoreMark& mark, const LearnerConfig& config,
                     const Readout& readout) {
  ENGRAM_TRY(write_mark(writer, mark));
  ENGRAM_TRY(write_section(writer, "config", as_bytes(to_json(config))));
  ByteWriter numbers;
  numbers.put(readout.lambda);
  numbers.put(readout.samples);
  numbers.put(std::uint32_t(readout.classes.size()));
  numbers.put(std::uint32_t(readout.hidden_units));
  ENGRAM_TRY(write_section(writer, "readout", numbers.bytes()));
  ByteWriter labels;
  for (const std::string& label : readout.classes) {
    labels.put(std::uint8_t(label.size()));
    labels.put_bytes(as_bytes(label));
  }
  ENGRAM_TRY(write_section(writer, "classes", labels.bytes()));
  ENGRAM_TRY(write_section(writer, "weights", std::as_bytes(std::span(readout.weights))));
  if (!readout.feature_weights.empty()) {
    ENGRAM_TRY(write_section(writer, "feature_weights",
                             std::as_bytes(std::span(readout.feature_weights))));
  }
  return write_judging(writer, readout);
}

Result<ReadoutFile> parse_readout(const SnapshotReader& reader) {
  ReadoutFile file;
  ENGRAM_ASSIGN(file.mark, read_mark(reader));
  ENGRAM_ASSIGN(const auto json, reader.section("config"));
  ENGRAM_ASSIGN(file.config, parse_config(as_text(json)));
  ENGRAM_TRY(validate(file.config));

  ENGRAM_ASSIGN(const auto numbers, reader.section("readout"));
  ByteReader bytes(numbers);
  Readout readout;
  readout.lambda = bytes.take<double>();
  readout.samples = bytes.take<std::int64_t>();
  const std::size_t classes = bytes.take<std::uint32_t>();
  const std::size_t units = bytes.take<std::uint32_t>();
  if (bytes.failed() || bytes.left() != 0 || !is_lambda(readout.lambda) || readout.samples < 0 ||
      classes == 0 || units != std::size_t(file.config.hidden_units())) {
    return impossible(reader, "readout");
  }
  readout.hidden_units = int(units);
  ENGRAM_ASSIGN(readout.classes, parse_labels(reader, classes));
  ENGRAM_TRY(parse_weights(reader, "weights", classes * units, readout.weights));
  if (reader.has("feature_weights")) {
    ENGRAM_TRY(parse_weights(reader, "feature_weights", classes * std::size_t(file.config.features),
                             readout.feature_weights));
  }
  ENGRAM_ASSIGN(const bool sensible, read_judging(reader, readout));
  if (!sensible) return impossible(reader, "confidence");
  file.readout = std::make_shared<const Readout>(std::move(readout));
  return file;
}

Result<ReadoutFile> load_readout(const StorePaths& paths) {
  ENGRAM_ASSIGN(const SnapshotReader reader, SnapshotReader::open(paths.readout, ""));
  return parse_readout(reader);
}

}  // namespace engram
