// What the program may assume about the place it prints to, and text that is safe to print there.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace engram {

enum class Style { plain, bold, dim, red, green, yellow, cyan };

bool is_terminal(std::FILE* stream);
// A terminal that is not "dumb": a line on it can be wiped and written again.
bool can_repaint(std::FILE* stream);
// Only where one can repaint, and never with NO_COLOR set (https://no-color.org).
bool wants_colour(std::FILE* stream);
int terminal_columns(std::FILE* stream);  // 80 where nobody says

// `text` in the style, or unchanged when `colour` is false.
std::string paint(std::string_view text, Style style, bool colour);

// Columns that UTF-8 text takes: combining marks none, East Asian wide letters and emoji two.
int display_width(std::string_view text);
// Cuts to at most `columns`, ending in "…" when something was cut.
std::string shorten(std::string_view text, int columns);
// Pads with spaces to `columns`, on the right or (align_right) on the left.
std::string pad(std::string_view text, int columns, bool align_right = false);

// File names and labels come from strangers: control characters (a terminal would obey them) and
// bytes that are not UTF-8 become "?".
std::string printable(std::string_view text);

}  // namespace engram
