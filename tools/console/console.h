// Where a command's words go.
//
//   stdout   the answer: text for people, or with --json one JSON value per line and nothing else
//   stderr   progress, warnings, errors
//
// What strangers wrote (names of files, labels) cannot steer a terminal through stderr: control
// characters become "?" here. In answers that is for who writes them (printable(), terminal.h).
//
// In the journal of a service (journal_lines.h) lines have a priority instead of colours.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "platform/status.h"

namespace engram {

class Console {
 public:
  // Call once the options are known. Finds out by itself whether a journal listens.
  void configure(bool json, bool quiet);
  void write_for_journal(bool wanted);  // whatever the environment says
  bool json() const { return json_; }
  bool colour() const { return colour_; }  // of stdout
  bool shows_progress() const { return !quiet_ && !journal_errors_; }

  void answer(const std::string& text) const;  // unless --json
  void note(const std::string& text) const;    // unless --json or --quiet: what was done, hints
  void object(const nlohmann::ordered_json& value) const;  // with --json only
  void log(const std::string& text) const;   // stderr, unless --quiet: what happened meanwhile
  void warn(const std::string& text) const;  // stderr: something was skipped or repaired
  // stderr: the sentence; with --json also {"error": ..., "code": ...} on stdout.
  void error(const Status& status) const;
  // The exit code of a command that ended with `code`: 74, with a sentence, if its answer did not
  // reach stdout. Call last.
  int finish(int code) const;

 private:
  bool json_ = false;
  bool quiet_ = false;
  bool colour_ = false;
  bool journal_out_ = false, journal_errors_ = false;
};

// JSON from any bytes: what is not UTF-8 is replaced, never thrown.
std::string json_text(const nlohmann::ordered_json& value);

}  // namespace engram
