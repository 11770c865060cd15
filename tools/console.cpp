#include "tools/console.h"

#include <cstdio>

#include <nlohmann/json.hpp>

#include "tools/exit_code.h"
#include "tools/journal_lines.h"
#include "tools/terminal.h"

namespace engram {

namespace {

void complain(bool journal, Priority priority, const char* word, Style style,
              const std::string& text) {
  std::string line = paint(word, style, !journal && wants_colour(stderr)) + " " + text + "\n";
  if (journal) line = journal_lines(priority, line);
  std::fputs(line.c_str(), stderr);
}

}  // namespace

void Console::configure(bool json, bool quiet) {
  json_ = json;
  quiet_ = quiet;
  colour_ = !json && wants_colour(stdout);
  journal_out_ = journal_reads(stdout);
  journal_errors_ = journal_reads(stderr);
}

void Console::write_for_journal(bool wanted) {
  journal_out_ = journal_errors_ = wanted;
  if (wanted) colour_ = false;
}

void Console::answer(const std::string& text) const {
  if (json_) return;
  std::fputs((journal_out_ ? journal_lines(Priority::info, text) : text).c_str(), stdout);
  std::fflush(stdout);
}

void Console::note(const std::string& text) const {
  if (!quiet_) answer(text);
}

void Console::object(const nlohmann::ordered_json& value) const {
  if (!json_) return;
  std::fputs((json_text(value) + "\n").c_str(), stdout);
  std::fflush(stdout);
}

void Console::log(const std::string& text) const {
  if (quiet_) return;
  const std::string line = text + "\n";
  std::fputs((journal_errors_ ? journal_lines(Priority::info, line) : line).c_str(), stderr);
}

void Console::warn(const std::string& text) const {
  complain(journal_errors_, Priority::warning, "warning:", Style::yellow, text);
}

void Console::error(const Status& status) const {
  complain(journal_errors_, Priority::error, "error:", Style::red, status.what());
  object({{"error", status.what()}, {"code", exit_code(status.code())}});
}

std::string json_text(const nlohmann::ordered_json& value) {
  return value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace engram
