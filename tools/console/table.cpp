#include "tools/console/table.h"

#include <algorithm>
#include <utility>

#include "platform/status.h"
#include "tools/console/terminal.h"

namespace engram {

void Table::add(std::vector<std::string> cells) {
  ENGRAM_CHECK(cells.size() == columns_.size());
  rows_.push_back(std::move(cells));
}

int Table::width(std::size_t column) const {
  int widest = std::max(columns_[column].at_least, display_width(columns_[column].heading));
  for (const auto& row : rows_) widest = std::max(widest, display_width(row[column]));
  return widest;
}

std::string Table::line(const std::vector<std::string>& cells) const {
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) text += "  ";
    text += pad(cells[i], width(i), columns_[i].align == Align::right);
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::string Table::heading_line(bool colour) const {
  std::vector<std::string> headings;
  for (const Column& column : columns_) headings.push_back(column.heading);
  return paint(line(headings), Style::bold, colour) + "\n";
}

std::string Table::row_line(std::size_t row) const {
  return line(rows_[row]) + "\n";
}

std::string Table::text(bool colour) const {
  std::string text = heading_line(colour);
  for (const auto& row : rows_) text += line(row) + "\n";
  return text;
}

}  // namespace engram
