// What needs no lock: reading the readout, and checking everything.
#include <fmt/format.h>

#include "engine/store.h"
#include "engine/store_files.h"
#include "engine/store_load.h"
#include "platform/sentence.h"

namespace engram {

namespace {

// Nothing is lost with a readout: it can be made again of snapshot and journal, by who opens them for
// writing. Of all commands that do, this one does nothing else where no task is open.
std::string how_to_make_readout(const std::string& directory) {
  return fmt::format("`engram learn --end-task --state {}` makes it again.", directory);
}

Status damaged_readout(const std::string& directory, const Status& why) {
  return Status(why.code(), fmt::format("{} What was learned is not in this file: {}",
                                        sentence(why.what()), how_to_make_readout(directory)));
}

}  // namespace

Result<StoredReadout> read_readout(const std::string& directory) {
  const StorePaths paths(directory);
  if (!Store::exists(directory)) {
    return Status(Code::not_found, fmt::format("{}: holds no state yet.", directory));
  }
  Result<ReadoutFile> file = load_readout(paths);
  if (file.ok()) {
    return StoredReadout{file->config, *file->readout, file->mark.sequence};
  }
  switch (file.status().code()) {
    case Code::not_found:
      return Status(Code::not_found,
                    fmt::format("{}: no task has ended yet, so there is nothing to classify with: "
                                "learn at least one picture and end the task. If one has ended, "
                                "{} was lost: {}",
                                directory, paths.readout, how_to_make_readout(directory)));
    case Code::bad_data:
      return damaged_readout(directory, file.status());
    default:
      return file.status();
  }
}

Result<StoredReadout> read_readout(const std::string& directory, ReadoutKind kind) {
  if (!Store::exists(directory)) {
    return Status(Code::not_found, fmt::format("{}: holds no state yet.", directory));
  }
  ENGRAM_ASSIGN(LoadedStore loaded, load_store(StorePaths(directory), LoadCheck::none));
  Result<Readout> readout = loaded.learner.readout_of(kind);
  if (!readout.ok()) {
    return Status(readout.status().code(),
                  fmt::format("{}: {}", directory, readout.status().what()));
  }
  return StoredReadout{loaded.learner.config(), std::move(readout).value(), loaded.mark.sequence};
}

namespace {

// The disk, or a right to read, is what fails: nothing is known about the bytes.
Status could_not_check(const std::string& directory, const Status& why) {
  return Status(why.code(), fmt::format("{}: could not be checked. {} Nothing was changed.",
                                        directory, sentence(why.what())));
}

}  // namespace

Result<VerifyReport> verify_store(const std::string& directory) {
  const StorePaths paths(directory);
  if (!Store::exists(directory)) {
    return Status(Code::not_found, fmt::format("{}: holds no state.", directory));
  }
  VerifyReport report;
  const Result<ReadoutFile> readout = load_readout(paths);
  const bool readout_absent = readout.status().code() == Code::not_found;
  if (readout.status().code() == Code::io_failure) {
    return could_not_check(directory, readout.status());
  }
  if (readout.status().code() == Code::not_supported) return readout.status();
  if (readout.status().code() == Code::bad_data) {
    report.findings.push_back(damaged_readout(directory, readout.status()).what());
  } else if (!readout.ok() && !readout_absent) {
    report.findings.push_back(readout.status().what());
  }

  Result<LoadedStore> loaded = load_store(paths, LoadCheck::digests);
  if (!loaded.ok()) {
    const Code code = loaded.status().code();
    if (code == Code::out_of_memory || code == Code::not_supported) return loaded.status();
    if (code == Code::io_failure) {
      return could_not_check(directory, loaded.status());
    }
    report.findings.push_back(loaded.status().what());
    return report;
  }
  report.findings.insert(report.findings.end(), loaded->findings.begin(), loaded->findings.end());
  report.ok = report.findings.empty();
  report.samples = loaded->learner.samples();
  report.sequence = loaded->mark.sequence;
  report.digest = loaded->learner.digest();

  // Not damage: what a crash may leave, and the next writer puts right.
  if (loaded->scan.torn > 0) {
    report.findings.push_back(fmt::format(
        "{}: its last write was cut off ({} bytes) and was never acknowledged; the next "
        "program that writes here removes it.",
        paths.journal, loaded->scan.torn));
  }
  if (!loaded->readout_is_current && report.ok) {
    report.findings.push_back(fmt::format("{}: is missing or older than the last end of a task: {}",
                                          paths.readout, how_to_make_readout(directory)));
  }
  if (std::string note = loaded->learner.rounding_note(); !note.empty()) {
    report.findings.push_back(std::move(note));
  }
  return report;
}

}  // namespace engram
