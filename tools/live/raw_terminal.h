// A terminal that gives every key at once and shows a page of ours; put back as it was on every way out:
// the destructor, Ctrl-Z (and raw again when it goes on), and a crash.
#pragma once

#include <string>
#include <vector>

#include "platform/status.h"

namespace engram {

class RawTerminal {
 public:
  // Of standard input and output. One at a time. not_supported: they are no terminal.
  static Result<RawTerminal> enter();
  RawTerminal(RawTerminal&& other) noexcept;
  RawTerminal& operator=(RawTerminal&&) = delete;
  ~RawTerminal();

  // What was typed, if anything within `patience_ms`; also returns when `other` becomes readable.
  // is_open: false when nobody can type any more.
  std::string read(int patience_ms, int other);
  bool is_open() const { return is_open_; }

  // Shows these lines from the top, and nothing below; only if something changed.
  void show(const std::vector<std::string>& lines);
  struct Size {
    int columns = 80, rows = 24;
  };
  Size size() const;

 private:
  RawTerminal() = default;
  bool is_ours_ = true;  // false: moved from
  bool is_open_ = true;
  std::string shown_;
};

}  // namespace engram
