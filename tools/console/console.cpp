#include "tools/console/console.h"

#include <cstdio>
#include <string_view>

#include <nlohmann/json.hpp>

#include "tools/console/journal_lines.h"
#include "tools/console/terminal.h"
#include "tools/exit_code.h"

namespace engram {

namespace {

// Names of files and labels come in with the words of every layer below, so they are made harmless
// here, in one place. Line ends are our own.
std::string printable_lines(std::string_view text) {
  std::string lines;
  for (;;) {
    const std::size_t end = text.find('\n');
    lines += printable(text.substr(0, end));
    if (end == std::string_view::npos) return lines;
    lines += '\n';
    text.remove_prefix(end + 1);
  }
}

void complain(bool journal, Priority priority, const char* word, Style style,
              const std::string& text) {
  std::string line =
      paint(word, style, !journal && wants_colour(stderr)) + " " + printable_lines(text) + "\n";
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
  const std::string line = printable_lines(text) + "\n";
  std::fputs((journal_errors_ ? journal_lines(Priority::info, line) : line).c_str(), stderr);
}

void Console::warn(const std::string& text) const {
  complain(journal_errors_, Priority::warning, "warning:", Style::yellow, text);
}

void Console::error(const Status& status) const {
  complain(journal_errors_, Priority::error, "error:", Style::red, status.what());
  object({{"error", status.what()}, {"code", exit_code(status.code())}});
}

int Console::finish(int code) const {
  const bool failed = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  if (!failed || (code != 0 && code != kExitSomeSkipped && code != kExitSlower)) return code;
  const Status lost(Code::io_failure,
                    "the answer could not be written: standard output takes no more. What the "
                    "command did is kept. Make room on its disk, or send it elsewhere.");
  complain(journal_errors_, Priority::error, "error:", Style::red, lost.what());
  return exit_code(lost.code());
}

std::string json_text(const nlohmann::ordered_json& value) {
  return value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace engram
