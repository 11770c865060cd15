#include "tools/console/journal_lines.h"

#include <cstdlib>

#include <sys/stat.h>

#include <fmt/format.h>

namespace engram {

bool journal_reads(std::FILE* stream) {
  const char* named = std::getenv("JOURNAL_STREAM");
  if (named == nullptr) return false;
  struct stat file {};
  if (::fstat(::fileno(stream), &file) != 0) return false;
  return fmt::format("{}:{}", file.st_dev, file.st_ino) == named;
}

std::string journal_lines(Priority priority, std::string_view text) {
  std::string lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!line.empty()) lines += fmt::format("<{}>{}\n", static_cast<int>(priority), line);
  }
  return lines;
}

}  // namespace engram
