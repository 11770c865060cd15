#include "tools/console/text_wrap.h"

#include <sstream>

#include "tools/console/terminal.h"

namespace engram {

std::string indented(const std::string& text, int indent, int columns) {
  const std::string margin(indent, ' ');
  std::string result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (display_width(line) + indent <= columns) {  // keeps its own spacing, as in tables
      result += line.empty() ? "\n" : margin + line + "\n";
      continue;
    }
    std::istringstream words(line);
    std::string row;
    for (std::string word; words >> word;) {
      if (!row.empty() && indent + display_width(row) + 1 + display_width(word) > columns) {
        result += margin + row + "\n";
        row.clear();
      }
      row += (row.empty() ? "" : " ") + word;
    }
    result += margin + row + "\n";
  }
  return result;
}

std::string hanging(const std::string& name, const std::string& text, int indent, int text_column,
                    int columns) {
  const std::string body = indented(text, text_column, columns);
  const std::string head = std::string(indent, ' ') + name;
  if (display_width(head) + 2 > text_column) return head + "\n" + body;
  return pad(head, text_column) + (body.empty() ? "\n" : body.substr(text_column));
}

}  // namespace engram
