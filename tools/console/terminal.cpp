#include "tools/console/terminal.h"

#include <cstdlib>

#include <sys/ioctl.h>
#include <unistd.h>

#include "tools/console/utf8.h"

namespace engram {
namespace {

int columns_of(std::uint32_t value) {
  struct Range {
    std::uint32_t first, last;
  };
  constexpr Range kNone[] = {{0x300, 0x36F}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}};
  constexpr Range kWide[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0xA4CF},
                             {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},
                             {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F},
                             {0x1F680, 0x1F6FF}, {0x1F900, 0x1FAFF}, {0x20000, 0x3FFFD}};
  for (const Range& range : kNone) {
    if (value >= range.first && value <= range.last) return 0;
  }
  for (const Range& range : kWide) {
    if (value >= range.first && value <= range.last) return 2;
  }
  return 1;
}

}  // namespace

bool is_terminal(std::FILE* stream) {
  return ::isatty(::fileno(stream)) == 1;
}

bool can_repaint(std::FILE* stream) {
  const char* term = std::getenv("TERM");
  const bool dumb = term == nullptr || std::string_view(term) == "dumb";
  return !dumb && is_terminal(stream);
}

bool wants_colour(std::FILE* stream) {
  const char* no_colour = std::getenv("NO_COLOR");
  const bool refused = no_colour && *no_colour != '\0';
  return !refused && can_repaint(stream);
}

int terminal_columns(std::FILE* stream) {
  winsize size{};
  if (::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

std::string paint(std::string_view text, Style style, bool colour) {
  const char* code = "";
  switch (style) {
    case Style::plain:
      break;
    case Style::bold:
      code = "1";
      break;
    case Style::dim:
      code = "2";
      break;
    case Style::red:
      code = "31";
      break;
    case Style::green:
      code = "32";
      break;
    case Style::yellow:
      code = "33";
      break;
    case Style::cyan:
      code = "36";
      break;
  }
  if (!colour || *code == '\0') return std::string(text);
  return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

int display_width(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    width += point.valid ? columns_of(point.value) : 1;
    text.remove_prefix(point.bytes);
  }
  return width;
}

std::string shorten(std::string_view text, int columns) {
  if (display_width(text) <= columns) return std::string(text);
  std::string kept;
  int width = 0;
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    const int next = point.valid ? columns_of(point.value) : 1;
    if (width + next > columns - 1) break;
    kept.append(text.substr(0, point.bytes));
    width += next;
    text.remove_prefix(point.bytes);
  }
  return columns > 0 ? kept + "…" : kept;
}

std::string pad(std::string_view text, int columns, bool align_right) {
  const int missing = columns - display_width(text);
  const std::string space(missing > 0 ? missing : 0, ' ');
  return align_right ? space + std::string(text) : std::string(text) + space;
}

std::string printable(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    const bool control = point.value < 0x20 || (point.value >= 0x7F && point.value < 0xA0) ||
                         (point.value >= 0x202A && point.value <= 0x202E) ||
                         (point.value >= 0x2066 && point.value <= 0x2069);  // turns text around
    if (point.valid && !control) {
      safe.append(text.substr(0, point.bytes));
    } else {
      safe += '?';
    }
    text.remove_prefix(point.bytes);
  }
  return safe;
}

}  // namespace engram
