#include "tools/live/terminal_input.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engine/label.h"
#include "tools/console/terminal.h"
#include "tools/console/utf8.h"
#include "tools/live/verdict.h"

namespace engram {
namespace {

FaceAction of_kind(Order::Kind kind) {
  FaceAction action{FaceAction::Kind::order};
  action.order.kind = kind;
  return action;
}

// What was typed: a class by name, by its number on the screen, or a new name.
std::string meant(const std::string& text, const LiveState& state) {
  const bool is_name = std::any_of(state.classes.begin(), state.classes.end(),
                                   [&](const LiveClass& known) { return known.label == text; });
  const std::vector<LiveClass> classes = numbered_classes(state);
  if (!is_name && text.size() == 1 && text[0] >= '1' && text[0] <= '9' &&
      std::size_t(text[0] - '1') < classes.size()) {
    return classes[std::size_t(text[0] - '1')].label;
  }
  return text;
}

void remove_last_letter(std::string& text) {
  std::size_t begin = 0;
  for (std::string_view rest = text; !rest.empty();) {
    begin = text.size() - rest.size();
    rest.remove_prefix(std::size_t(first_code_point(rest).bytes));
  }
  text.resize(begin);
}

std::string without_outer_spaces(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

}  // namespace

FaceAction TerminalInput::key(const Key& key, Clock::time_point now, const LiveState& state,
                              std::shared_ptr<const Sight> sight) {
  remark_.clear();
  if (asked_ != Asked::nothing) return typed(key, state);
  const bool helped = std::exchange(shows_help_, false);
  if (key.kind != Key::Kind::text) return {};
  if (key.text == "?") {
    shows_help_ = !helped;
    return {};
  }
  return command(key.text, now, state, std::move(sight));
}

FaceAction TerminalInput::command(const std::string& key, Clock::time_point now,
                                  const LiveState& state, std::shared_ptr<const Sight> sight) {
  const char letter = key.size() == 1 ? key[0] : '\0';
  if (letter >= '1' && letter <= '9') {
    const std::vector<LiveClass> classes = numbered_classes(state);
    if (std::size_t(letter - '1') >= classes.size()) {
      remark_ = fmt::format("there is no class {} yet; n makes a new one", letter);
      return {};
    }
    return tap(key, classes[std::size_t(letter - '1')].label, now, std::move(sight));
  }
  switch (letter) {
    case ' ':
      if (!current_.empty()) return tap(key, current_, now, std::move(sight));
      ask(Asked::new_class, std::move(sight));
      return {};
    case 'b':
      return tap(key, kBackground, now, std::move(sight));
    case 'n':
      ask(Asked::new_class, std::move(sight));
      return {};
    case 'x':
      ask(Asked::right_label, std::move(sight));
      return {};
    case 'r':
      ask(Asked::last_label, nullptr);
      return {};
    case 'u':
      return of_kind(Order::Kind::undo);
    case 'e':
      return of_kind(Order::Kind::end_task);
    case 'p':
      return {FaceAction::Kind::pause};
    case 'q':
      return {FaceAction::Kind::quit};
    default:
      remark_ = fmt::format("{} means nothing here; ? shows the keys", printable(key));
      return {};
  }
}

FaceAction TerminalInput::tap(const std::string& key, const std::string& label,
                              Clock::time_point now, std::shared_ptr<const Sight> sight) {
  const bool held = key == held_ && now - held_at_ < kHeld;
  held_ = key;
  held_at_ = now;
  if (held && now - taught_at_ < kBetween) return {};
  taught_at_ = now;
  if (label != kBackground) current_ = label;
  return learn(label, std::move(sight), held);
}

FaceAction TerminalInput::learn(const std::string& label, std::shared_ptr<const Sight> sight,
                                bool burst) {
  FaceAction action = of_kind(Order::Kind::learn);
  action.order.label = label;
  action.order.burst = burst;
  action.order.sight = std::move(sight);
  return action;
}

void TerminalInput::ask(Asked what, std::shared_ptr<const Sight> sight) {
  asked_ = what;
  asked_of_ = std::move(sight);
  text_.clear();
}

std::string TerminalInput::prompt() const {
  switch (asked_) {
    case Asked::nothing:
      return "";
    case Asked::new_class:
      return "new class: " + text_;
    case Asked::right_label:
      return "what is it really? " + text_;
    case Asked::last_label:
      return "what was the last one really? " + text_;
  }
  return "";
}

FaceAction TerminalInput::typed(const Key& key, const LiveState& state) {
  if (key.kind == Key::Kind::text) {
    if (text_.size() + key.text.size() <= kMaxLabelBytes) text_ += key.text;
    return {};
  }
  if (key.kind == Key::Kind::backspace) {
    remove_last_letter(text_);
    return {};
  }
  const Asked asked = std::exchange(asked_, Asked::nothing);
  std::shared_ptr<const Sight> sight = std::move(asked_of_);
  const std::string text = without_outer_spaces(text_);
  if (key.kind == Key::Kind::escape || text.empty()) return {};
  const std::string label = asked == Asked::new_class ? text : meant(text, state);
  if (asked == Asked::last_label) {
    FaceAction action = of_kind(Order::Kind::relabel);
    action.order.label = label;
    return action;
  }
  held_.clear();
  if (label != kBackground) current_ = label;
  return learn(label, std::move(sight), false);
}

}  // namespace engram
