// What the terminal shows of the camera app, line by line. No terminal here: text in, text out.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "platform/image.h"
#include "tools/live/live.h"

namespace engram {

struct ScreenContent {
  LiveState state;
  std::shared_ptr<const Sight> sight;  // may be null
  std::string current;                 // the label that space teaches
  std::string prompt;                  // what is being typed; empty: nothing
  std::string message;                 // the last outcome
  bool failed = false;                 // it was none
  bool help = false;
};

struct ScreenSize {
  int columns = 80, rows = 24;
  bool colour = true;    // of words
  bool picture = false;  // the camera's, in coloured blocks
};

// At most size.rows lines of at most size.columns, whatever the content.
std::vector<std::string> draw_screen(const ScreenContent& content, const ScreenSize& size);

// A picture of at most `columns` x `rows` letters, each of two pixels, one above the other, in 24-bit
// colour; what is not looked at is dark. Empty where there is no room.
std::vector<std::string> half_blocks(const Image& picture, const Region& region, int columns,
                                     int rows);

}  // namespace engram
