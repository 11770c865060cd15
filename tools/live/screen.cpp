#include "tools/live/screen.h"

#include <algorithm>

#include <fmt/format.h>

#include "tools/console/terminal.h"
#include "tools/console/units.h"
#include "tools/engine_words.h"
#include "tools/live/verdict.h"

namespace engram {
namespace {

constexpr const char* kHelp[] = {
    "space  learn what you see as the class marked >   (hold: a burst)",
    "1-9    learn it as that class                     (hold: a burst)",
    "n      a new class: type its name, Enter; Esc leaves",
    "b      learn it as background: nothing is shown",
    "x      the answer is wrong: type what it is",
    "u      undo the last step          r  the last one was something else",
    "e      end the task now            p  pause, and go on",
    "q      quit; everything is saved   ?  this list",
};

std::string status_text(const LiveState& state) {
  std::string camera;
  switch (state.feed.kind) {
    case FeedState::Kind::opening:
      camera = "opening the camera";
      break;
    case FeedState::Kind::live:
      camera = fmt::format("live {:.0f} fps  {:.0f} ms", state.looks_per_second,
                           state.backbone_ms + state.head_ms);
      break;
    case FeedState::Kind::lost:
      camera = "camera lost: " + printable(state.feed.why);
      break;
    case FeedState::Kind::ended:
      camera = "the source has ended";
      break;
  }
  std::string text = "engram  " + camera;
  if (state.paused) text += "  paused";
  if (state.throttled) {
    text += state.slowed_by == "power" ? "  power limit: half the rate" : "  hot: half the rate";
  }
  if (state.engine.kind == EngineState::Kind::building) {
    text += "  GPU's engine " + build_words(state.engine);
  }
  if (!state.cpu_because.empty()) text += "  without the GPU";
  text += state.opening    ? "  reading what was learned..."
          : state.learning ? "  saving..."
                           : fmt::format("  saved r{}", state.sequence);
  return text + "  " + printable(state.source);  // last: it may be long
}

std::string class_text(const LiveClass& taught, const std::string& number, bool is_current,
                       int label_columns) {
  const std::string label = taught.label == kBackground ? "nothing" : printable(taught.label);
  const std::string accuracy = taught.judged > 0
                                   ? fmt::format("{:4.0f} %", 100.0 * taught.right / taught.judged)
                               : taught.too_few ? "show more"
                                                : "";
  const std::string samples = taught.samples > 0 ? std::to_string(taught.samples) : "...";
  return fmt::format("{}{:>2} {} {:>5}  {}", is_current ? ">" : " ", number,
                     pad(shorten(label, label_columns), label_columns), samples, accuracy);
}

// The background last, for it has no number; only so many as fit.
std::vector<std::string> class_lines(const ScreenContent& content, int rows) {
  std::vector<LiveClass> classes = numbered_classes(content.state);
  const std::size_t numbered = classes.size();
  for (const LiveClass& taught : content.state.classes) {
    if (taught.label == kBackground) classes.push_back(taught);
  }
  int columns = 8;
  for (const LiveClass& taught : classes) {
    columns = std::clamp(display_width(printable(taught.label)), columns, 30);
  }
  std::vector<std::string> lines;
  for (std::size_t k = 0; k < classes.size(); ++k) {
    if (int(lines.size()) == rows - 1 && classes.size() > k + 1) {
      lines.push_back(fmt::format("    ... and {} more", classes.size() - k));
      break;
    }
    const std::string number = k < numbered && k < 9 ? std::to_string(k + 1) : "";
    lines.push_back(class_text(classes[k], number, classes[k].label == content.current, columns));
  }
  return lines;
}

struct Words {
  std::string text;
  Style style = Style::plain;
};

Words answer_words(const ScreenContent& content) {
  if (content.state.paused) return {"paused", Style::bold};
  const Verdict said = content.sight ? verdict(*content.sight) : Verdict{};
  switch (said.kind) {
    case Verdict::Kind::none:
      return {content.state.samples > 0 ? ""
                                        : "nothing is learned yet: show something and press n"};
    case Verdict::Kind::unknown:
      return {verdict_text(said), Style::yellow};
    case Verdict::Kind::background:
      return {verdict_text(said), Style::dim};
    case Verdict::Kind::guess:
      return {verdict_text(said) + "   (show it twice more, then it can say unknown)", Style::bold};
    case Verdict::Kind::known:
      return {verdict_text(said), Style::green};
  }
  return {};
}

}  // namespace

std::vector<std::string> draw_screen(const ScreenContent& content, const ScreenSize& size) {
  const LiveState& state = content.state;
  const auto plain = [&](const std::string& text, Style style) {
    return paint(shorten(text, size.columns), style, size.colour);
  };
  // From the most to the least needed: what is typed, what was said, status, answer; then the rest.
  const std::string keys =
      content.current.empty()
          ? "n new class  1-9 class  u undo  ? all keys  q quit"
          : fmt::format("space learn {}  1-9 class  n new  u undo  ? all keys  q quit",
                        printable(content.current));
  std::vector<std::string> foot{plain(content.message, content.failed ? Style::red : Style::cyan),
                                content.prompt.empty()
                                    ? plain(keys, Style::dim)
                                    : plain(printable(content.prompt) + "_", Style::bold)};
  if (!state.fault.empty()) foot.insert(foot.begin(), plain(printable(state.fault), Style::red));
  std::vector<std::string> head{plain(status_text(state), Style::plain)};
  int room = size.rows - int(head.size() + foot.size()) - 1;  // 1: the answer

  std::vector<std::string> list;
  if (content.help) {
    for (const char* line : kHelp) list.push_back(plain(line, Style::plain));
  } else {
    const int most = size.picture ? std::max(3, room / 4) : std::max(0, room - 3);
    for (const std::string& line : class_lines(content, most)) {
      list.push_back(plain(line, Style::plain));
    }
    for (const std::string& hint : state.hints) {
      if (int(list.size()) >= most + 2) break;
      list.push_back(plain("tip: " + hint, Style::dim));
    }
  }
  list.resize(std::min(list.size(), std::size_t(std::max(0, room))));
  room -= int(list.size());

  std::vector<std::string> lines = head;
  if (size.picture && content.sight != nullptr && content.sight->frame.picture != nullptr) {
    const Region region{state.region[0], state.region[1], state.region[2], state.region[3]};
    for (std::string& row :
         half_blocks(content.sight->frame.picture->rgb(), region, size.columns, room)) {
      lines.push_back(std::move(row));
    }
  }
  const Words answer = answer_words(content);
  lines.push_back(plain(answer.text, answer.style));
  lines.insert(lines.end(), list.begin(), list.end());
  lines.insert(lines.end(), foot.begin(), foot.end());
  if (int(lines.size()) > size.rows)
    lines.erase(lines.begin(), lines.end() - std::max(0, size.rows));
  return lines;
}

}  // namespace engram
