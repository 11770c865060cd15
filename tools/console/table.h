// Columns of text for people: headings, widths by content, numbers to the right.
#pragma once

#include <string>
#include <vector>

namespace engram {

enum class Align { left, right };

struct Column {
  std::string heading;
  Align align = Align::left;
  int at_least = 0;  // columns; for tables that are printed while they grow
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<std::string> cells);  // as many as there are columns
  // All of it; headings in bold with `colour`. Ends with a newline.
  std::string text(bool colour) const;
  // For live tables: one line each, with the widths known so far.
  std::string heading_line(bool colour) const;
  std::string row_line(std::size_t row) const;
  std::size_t rows() const { return rows_.size(); }

 private:
  int width(std::size_t column) const;
  std::string line(const std::vector<std::string>& cells) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace engram
