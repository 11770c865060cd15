// The terminal face of the camera app without a terminal: keys, what they mean, what is drawn.
#include <nlohmann/json.hpp>
#include "platform/camera_feed.h"

#include "tests/support/catch.h"
#include "tests/support/says.h"
#include "tools/console/terminal.h"
#include "tools/live/keys.h"
#include "tools/live/screen.h"
#include "tools/live/terminal_input.h"
#include "tools/live/verdict.h"

using namespace engram;
using namespace engram::test;

namespace {

using Kind = Key::Kind;
using Clock = TerminalInput::Clock;
using std::chrono::milliseconds;

Key letter(const std::string& text) {
  return {Kind::text, text};
}

LiveState two_classes() {
  LiveState state;
  state.source = "stage://";
  state.feed.kind = FeedState::Kind::live;
  state.classes = {{"mug", 12, 12, 12, false}, {kBackground, 3}, {"phone", 2, 0, 0, true}};
  state.samples = 17;
  state.sequence = 42;
  return state;
}

// Types into an app with two classes; time stands still unless told.
class Typist {
 public:
  FaceAction press(const Key& key, milliseconds later = milliseconds(5000)) {
    now_ += later;
    return input.key(key, now_, state, sight);
  }
  FaceAction press(const std::string& text, milliseconds later = milliseconds(5000)) {
    return press(letter(text), later);
  }
  void type(const std::string& text) {
    for (const char one : text) press(std::string(1, one));
  }
  LiveState state = two_classes();
  std::shared_ptr<const Sight> sight = std::make_shared<Sight>();
  TerminalInput input;

 private:
  Clock::time_point now_{};
};

bool learns(const FaceAction& action, const std::string& label) {
  return action.kind == FaceAction::Kind::order && action.order.kind == Order::Kind::learn &&
         action.order.label == label;
}

std::shared_ptr<Sight> seen(const std::string& label, float probability, bool unknown) {
  auto sight = std::make_shared<Sight>();
  sight->says_unknown = true;
  sight->answers = {{label, 0.9F, probability, unknown, unknown ? 0.1F : 0.9F}};
  return sight;
}

std::string page(const ScreenContent& content, const ScreenSize& size) {
  std::string text;
  for (const std::string& line : draw_screen(content, size)) text += line + "\n";
  return text;
}

}  // namespace

TEST_CASE("keys are read however they are cut", "[tools][live][terminal]") {
  KeyReader reader;
  CHECK(reader.read("a \r") == std::vector<Key>{letter("a"), letter(" "), {Kind::enter}});
  CHECK(reader.read("\x7f\b") == std::vector<Key>{{Kind::backspace}, {Kind::backspace}});
  CHECK(reader.read("\x1b[A\x1b[15~\x1bOPx") == std::vector<Key>{letter("x")});  // arrows: nothing
  CHECK(reader.read("\x1b").empty());
  CHECK(reader.read("[").empty());
  CHECK(reader.read("Bq") == std::vector<Key>{letter("q")});
  CHECK(reader.read("\x1b").empty());
  CHECK(reader.pause() == std::vector<Key>{{Kind::escape}});
  CHECK(reader.pause().empty());
  CHECK(reader.read("\x1bz") == std::vector<Key>{{Kind::escape}, letter("z")});
  const std::string duck = "\xf0\x9f\xa6\x86";
  CHECK(reader.read("é" + duck) == std::vector<Key>{letter("é"), letter(duck)});
  CHECK(reader.read(duck.substr(0, 2)).empty());
  CHECK(reader.read(duck.substr(2)) == std::vector<Key>{letter(duck)});
  CHECK(reader.read("\xff\x01\xc2\x80t") == std::vector<Key>{letter("t")});  // neither text nor key
  CHECK(reader.read("\x1b[" + std::string(1000, '0')).size() < 1000);  // does not wait for ever
}

TEST_CASE("keys teach the class that they name", "[tools][live][terminal]") {
  Typist typist;
  CHECK(learns(typist.press("1"), "mug"));
  CHECK(learns(typist.press("2"), "phone"));  // the background has no number
  CHECK(typist.press("3").kind == FaceAction::Kind::none);
  CHECK(says(typist.input.remark(), "no class 3"));
  CHECK(learns(typist.press(" "), "phone"));
  CHECK(learns(typist.press("b"), kBackground));
  CHECK(typist.input.current() == "phone");
  CHECK(typist.press("u").order.kind == Order::Kind::undo);
  CHECK(typist.press("e").order.kind == Order::Kind::end_task);
  CHECK(typist.press("p").kind == FaceAction::Kind::pause);
  CHECK(typist.press("q").kind == FaceAction::Kind::quit);
  CHECK(typist.press("z").kind == FaceAction::Kind::none);
  CHECK(says(typist.input.remark(), "? shows"));
  typist.press("?");
  CHECK(typist.input.shows_help());
  typist.press("?");
  CHECK_FALSE(typist.input.shows_help());
}

TEST_CASE("a held key is a burst of five a second", "[tools][live][terminal]") {
  Typist typist;
  FaceAction first = typist.press("1");
  CHECK(learns(first, "mug"));
  CHECK_FALSE(first.order.burst);
  int taught = 0;
  CHECK(learns(typist.press("1", milliseconds(500)), "mug"));  // the first repeat comes late
  for (int i = 0; i < 60; ++i) {                               // two seconds of repeats
    const FaceAction action = typist.press("1", milliseconds(33));
    if (action.kind == FaceAction::Kind::none) continue;
    CHECK(action.order.burst);
    ++taught;
  }
  CHECK(taught >= 8);
  CHECK(taught <= 10);
  CHECK_FALSE(typist.press("2", milliseconds(33)).order.burst);   // another key
  CHECK_FALSE(typist.press("2", milliseconds(900)).order.burst);  // let go
}

TEST_CASE("names are typed", "[tools][live][terminal]") {
  Typist typist;
  CHECK(typist.press("n").kind == FaceAction::Kind::none);
  const auto then = typist.sight;
  typist.sight = std::make_shared<Sight>();  // time goes on; the picture of then is meant
  typist.type("keyx");
  typist.press(Key{Kind::backspace});
  typist.press("é");
  typist.press(Key{Kind::backspace});
  typist.press("s");
  CHECK(typist.input.prompt() == "new class: keys");
  const FaceAction action = typist.press(Key{Kind::enter});
  CHECK(learns(action, "keys"));
  CHECK(action.order.sight == then);
  CHECK(typist.input.current() == "keys");
  CHECK(typist.input.prompt().empty());

  typist.press("n");
  typist.type("q");  // a letter, not a command
  CHECK(typist.press(Key{Kind::escape}).kind == FaceAction::Kind::none);
  CHECK(typist.press("n").kind == FaceAction::Kind::none);
  CHECK(typist.press(Key{Kind::enter}).kind == FaceAction::Kind::none);  // no name, nothing

  typist.press("n");
  typist.type("  tea pot ");  // as it looks
  CHECK(learns(typist.press(Key{Kind::enter}), "tea pot"));
  typist.press("n");
  typist.type("   ");
  CHECK(typist.press(Key{Kind::enter}).kind == FaceAction::Kind::none);

  typist.press("x");
  typist.type("2");  // by its number
  CHECK(learns(typist.press(Key{Kind::enter}), "phone"));
  typist.press("r");
  typist.type("cup");
  const FaceAction relabel = typist.press(Key{Kind::enter});
  CHECK(relabel.order.kind == Order::Kind::relabel);
  CHECK(relabel.order.label == "cup");
  typist.press("n");
  typist.type(std::string(400, 'x'));
  CHECK(typist.press(Key{Kind::enter}).order.label.size() == 255);

  Typist fresh;  // nothing taught: space asks for a name
  fresh.state.classes.clear();
  CHECK(fresh.press(" ").kind == FaceAction::Kind::none);
  CHECK_FALSE(fresh.input.prompt().empty());
}

TEST_CASE("verdicts", "[tools][live][terminal]") {
  CHECK(verdict_text(verdict(*seen("mug", 0.97F, false))) == "mug  97 %");
  CHECK(verdict_text(verdict(*seen("mug", 0.31F, true))) == "unknown (closest: mug 31 %)");
  const auto one_class = seen("mug", 1, true);
  one_class->answers[0].known.reset();
  CHECK(verdict_text(verdict(*one_class)) == "unknown (closest: mug)");
  CHECK(verdict_json(*one_class).at("known").is_null());
  CHECK(verdict_text(verdict(*seen(kBackground, 0.9F, false))) == "nothing");
  CHECK(verdict_text(verdict(Sight{})).empty());
  const auto first = seen("mug", 1, false);
  first->says_unknown = false;  // one sample: everything is the nearest
  CHECK(verdict_text(verdict(*first)) == "mug?");
  CHECK(verdict_json(*first).at("says_unknown") == false);
  ScreenContent content;
  content.state = two_classes();
  content.sight = first;
  CHECK(says(page(content, {80, 24, false, false}), "mug?   (show it twice more"));
  CHECK(verdict_text(verdict(*seen("a\x1b[2Jb", 1, false))) == "a?[2Jb  100 %");
}

TEST_CASE("the page shows status, answer, classes and what is typed", "[tools][live][terminal]") {
  ScreenContent content;
  content.state = two_classes();
  content.state.hints = {"phone has 2 samples: show 1 more to judge it"};
  content.sight = seen("mug", 0.97F, false);
  content.current = "mug";
  content.message = "learned mug (12 samples)";
  const std::string text = page(content, {80, 24, false, false});
  for (const char* words :
       {"stage://", "live", "saved r42", "mug  97 %", "> 1 mug", "100 %", "  2 phone", "show more",
        "nothing", "learned mug (12 samples)", "space learn mug", "tip: phone"}) {
    CAPTURE(words, text);
    CHECK(says(text, words));
  }
  CHECK_FALSE(says(text, "\x1b"));
  content.prompt = "new class: ke";
  CHECK(says(page(content, {80, 24, false, false}), "new class: ke_"));
  content.help = true;
  CHECK(says(page(content, {80, 24, false, false}), "Esc leaves"));
  content.state.fault = "disk full";
  content.state.feed.kind = FeedState::Kind::lost;
  content.state.feed.why = "pulled";
  content.state.paused = true;
  const std::string broken = page(content, {80, 24, false, false});
  for (const char* words : {"disk full", "camera lost: pulled", "paused"})
    CHECK(says(broken, words));
}

TEST_CASE("the page fits every terminal", "[tools][live][terminal]") {
  ScreenContent content;
  content.state = two_classes();
  for (int i = 0; i < 40; ++i) content.state.classes.push_back({std::string(100, 'a' + i % 26), i});
  content.state.hints.assign(20, std::string(300, 'h'));
  content.state.fault = std::string(300, 'f');
  auto sight = seen(std::string(200, 'x'), 0.5F, true);
  sight->frame.picture = std::make_shared<const CameraPicture>(
      Image{64, 48, std::vector<std::uint8_t>(3 * 64 * 48, 100)});
  content.sight = sight;
  for (const bool help : {false, true}) {
    content.help = help;
    for (const int columns : {1, 10, 80, 300}) {
      for (const int rows : {1, 2, 5, 24, 100}) {
        for (const bool picture : {false, true}) {
          CAPTURE(columns, rows, picture, help);
          const auto lines = draw_screen(content, {columns, rows, false, picture});
          CHECK(int(lines.size()) <= rows);
          CHECK_FALSE(lines.empty());
          for (const std::string& line : lines) {
            if (!says(line, "\x1b")) CHECK(display_width(line) <= columns);
          }
        }
      }
    }
  }
}

TEST_CASE("a picture is drawn in half blocks, dark where nobody looks", "[tools][live][terminal]") {
  Image picture{4, 4, {}};
  for (int i = 0; i < 16; ++i) picture.rgb.insert(picture.rgb.end(), {90, std::uint8_t(i), 0});
  const auto lines = half_blocks(picture, {0, 0, 500, 1000}, 80, 24);
  REQUIRE(lines.size() == 2);
  CHECK(says(lines[0], "\x1b[38;2;90;0;0m\x1b[48;2;90;4;0m▀"));
  CHECK(says(lines[1], "\x1b[38;2;30;3;0m\x1b[48;2;30;5;0m▀\x1b[0m"));  // the right half: a third
  CHECK(half_blocks(picture, {}, 2, 24).size() == 1);                   // keeps its proportions
  CHECK(half_blocks(picture, {}, 80, 0).empty());
  CHECK(half_blocks(Image{}, {}, 80, 24).empty());
}
