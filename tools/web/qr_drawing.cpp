#include "tools/web/qr_drawing.h"

#include <algorithm>
#include <climits>
#include <cstdlib>

namespace engram {

QrDrawing::QrDrawing(int version, QrLevel level)
    : version_(version),
      size_(version * 4 + 17),
      level_(level),
      modules_(std::size_t(size_ * size_), 0),
      fixed_(modules_.size(), 0) {
  for (int i = 0; i < size_; ++i) {  // the two rulers
    set_fixed(6, i, i % 2 == 0);
    set_fixed(i, 6, i % 2 == 0);
  }
  draw_finder(3, 3);
  draw_finder(size_ - 4, 3);
  draw_finder(3, size_ - 4);
  draw_alignment();
  draw_format(0);  // keeps its place
  draw_version();
}

void QrDrawing::set_fixed(int x, int y, bool dark) {
  at(x, y) = dark;
  fixed_[std::size_t(y * size_ + x)] = 1;
}

void QrDrawing::draw_finder(int x, int y) {
  for (int dy = -4; dy <= 4; ++dy) {
    for (int dx = -4; dx <= 4; ++dx) {
      const bool inside = x + dx >= 0 && x + dx < size_ && y + dy >= 0 && y + dy < size_;
      const int ring = std::max(std::abs(dx), std::abs(dy));
      if (inside) set_fixed(x + dx, y + dy, ring != 2 && ring != 4);
    }
  }
}

void QrDrawing::draw_alignment() {
  if (version_ == 1) return;
  const int last = size_ - 7;
  std::vector<int> places = {6, last};
  if (version_ >= 7) places = {6, version_ * 2 + 8, last};  // annex E, versions 7 to 10
  for (const int y : places) {
    for (const int x : places) {
      const bool in_finder = (x == 6 && y == 6) || (x == 6 && y == last) || (x == last && y == 6);
      for (int dy = -2; dy <= 2 && !in_finder; ++dy) {
        for (int dx = -2; dx <= 2; ++dx) {
          set_fixed(x + dx, y + dy, std::max(std::abs(dx), std::abs(dy)) != 1);
        }
      }
    }
  }
}

void QrDrawing::draw_version() {
  if (version_ < 7) return;
  int rest = version_;
  for (int i = 0; i < 12; ++i) rest = (rest << 1) ^ ((rest >> 11) * 0x1F25);
  const int bits = version_ << 12 | rest;
  for (int i = 0; i < 18; ++i) {
    const int far = size_ - 11 + i % 3, near = i / 3;
    set_fixed(far, near, (bits >> i & 1) != 0);
    set_fixed(near, far, (bits >> i & 1) != 0);
  }
}

void QrDrawing::draw_format(int mask) {
  const int data = (level_ == QrLevel::low ? 1 : 0) << 3 | mask;
  int rest = data;
  for (int i = 0; i < 10; ++i) rest = (rest << 1) ^ ((rest >> 9) * 0x537);
  const int bits = (data << 10 | rest) ^ 0x5412;
  const auto bit = [&](int i) { return (bits >> i & 1) != 0; };
  for (int i = 0; i < 15; ++i) {  // around the first finder, past the ruler
    if (i < 8) set_fixed(8, i < 6 ? i : i + 1, bit(i));
    if (i >= 8) set_fixed(i == 8 ? 7 : 14 - i, 8, bit(i));
  }
  for (int i = 0; i < 15; ++i) {  // beside the other two
    if (i < 8) set_fixed(size_ - 1 - i, 8, bit(i));
    if (i >= 8) set_fixed(8, size_ - 15 + i, bit(i));
  }
  set_fixed(8, size_ - 8, true);
}

// Two columns at a time from the right, up and down by turns.
void QrDrawing::draw_words(const std::vector<std::uint8_t>& words) {
  std::size_t next = 0;
  bool upward = true;
  for (int right = size_ - 1; right >= 1; right -= 2, upward = !upward) {
    if (right == 6) right = 5;  // the ruler has a column of its own
    for (int step = 0; step < size_; ++step) {
      const int y = upward ? size_ - 1 - step : step;
      for (const int x : {right, right - 1}) {
        if (fixed_[std::size_t(y * size_ + x)] || next >= words.size() * 8) continue;
        at(x, y) = words[next / 8] >> (7 - next % 8) & 1;
        ++next;
      }
    }
  }
}

void QrDrawing::apply_mask(int mask) {
  for (int y = 0; y < size_; ++y) {
    for (int x = 0; x < size_; ++x) {
      const int product = x * y;
      const int rule[] = {(x + y) % 2,
                          y % 2,
                          x % 3,
                          (x + y) % 3,
                          (x / 3 + y / 2) % 2,
                          product % 2 + product % 3,
                          (product % 2 + product % 3) % 2,
                          ((x + y) % 2 + product % 3) % 2};
      if (rule[mask] == 0 && !fixed_[std::size_t(y * size_ + x)]) at(x, y) ^= 1;
    }
  }
}

void QrDrawing::choose_mask() {
  int best = 0, least = INT_MAX;
  for (int mask = 0; mask < 8; ++mask) {
    apply_mask(mask);
    draw_format(mask);
    if (const int now = penalty(); now < least) {
      least = now;
      best = mask;
    }
    apply_mask(mask);  // twice is not at all
  }
  apply_mask(best);
  draw_format(best);
}

int QrDrawing::line_penalty(const std::vector<std::uint8_t>& line) const {
  constexpr std::uint8_t kLikeFinder[2][11] = {{1, 0, 1, 1, 1, 0, 1, 0, 0, 0, 0},
                                               {0, 0, 0, 0, 1, 0, 1, 1, 1, 0, 1}};
  int sum = 0, run = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    run = i > 0 && line[i] == line[i - 1] ? run + 1 : 1;
    if (run >= 5) sum += run == 5 ? 3 : 1;
    for (const auto& pattern : kLikeFinder) {
      const bool room = i + std::size(pattern) <= line.size();
      if (room &&
          std::equal(std::begin(pattern), std::end(pattern), line.begin() + std::ptrdiff_t(i))) {
        sum += 40;
      }
    }
  }
  return sum;
}

int QrDrawing::penalty() const {
  const auto dark = [&](int x, int y) { return modules_[std::size_t(y * size_ + x)]; };
  int sum = 0, all_dark = 0;
  std::vector<std::uint8_t> row(std::size_t(size_), 0), column(row);
  for (int y = 0; y < size_; ++y) {
    for (int x = 0; x < size_; ++x) {
      row[std::size_t(x)] = dark(x, y);
      column[std::size_t(x)] = dark(y, x);
      all_dark += dark(x, y);
      const bool block = x > 0 && y > 0 && dark(x, y) == dark(x - 1, y) &&
                         dark(x, y) == dark(x, y - 1) && dark(x, y) == dark(x - 1, y - 1);
      if (block) sum += 3;
    }
    sum += line_penalty(row) + line_penalty(column);
  }
  const int percent_off = std::abs(all_dark * 100 / (size_ * size_) - 50);
  return sum + percent_off / 5 * 10;
}

}  // namespace engram
