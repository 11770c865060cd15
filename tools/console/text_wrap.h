// Paragraphs of plain text in columns.
#pragma once

#include <string>

namespace engram {

// Breaks at spaces so that no line is longer than `columns` (one long word may be); each line
// starts with `indent` spaces. Newlines in the text stay. Ends with a newline.
std::string indented(const std::string& text, int indent, int columns);

// A name, then its text in a column of its own that starts at `text_column`.
std::string hanging(const std::string& name, const std::string& text, int indent, int text_column,
                    int columns);

}  // namespace engram
