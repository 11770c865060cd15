#include "tools/live/terminal_face.h"

#include <mutex>
#include <utility>

#include "tools/console/terminal.h"
#include "tools/live/keys.h"
#include "tools/live/raw_terminal.h"
#include "tools/live/screen.h"
#include "tools/live/terminal_input.h"

namespace engram {
namespace {

constexpr int kBetweenPages = 66;  // milliseconds: 15 a second

// The last outcome; the teaching thread leaves it, perhaps when the face has gone already.
class LastOutcome {
 public:
  void leave(const OrderResult& result) {
    const std::lock_guard lock(mutex_);
    text_ = result.said;
    failed_ = !result.status.ok();
  }
  void tell(ScreenContent& content) const {
    const std::lock_guard lock(mutex_);
    content.message = text_;
    content.failed = failed_;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
  bool failed_ = false;
};

// False: quit.
bool act(Live& live, FaceAction action, const std::shared_ptr<LastOutcome>& outcome) {
  switch (action.kind) {
    case FaceAction::Kind::none:
      return true;
    case FaceAction::Kind::quit:
      return false;
    case FaceAction::Kind::pause:
      live.pause(!live.state().paused);
      return true;
    case FaceAction::Kind::order:
      break;
  }
  const Status taken = live.submit(
      std::move(action.order), [outcome](const OrderResult& result) { outcome->leave(result); });
  if (!taken.ok()) {
    OrderResult refused;
    refused.status = taken;
    refused.said = taken.what();
    outcome->leave(refused);
  }
  return true;
}

}  // namespace

Status run_terminal_face(Live& live, const StopSignals& stop, bool picture) {
  ENGRAM_ASSIGN(RawTerminal terminal, RawTerminal::enter());
  const bool colour = wants_colour(stdout);
  const auto outcome = std::make_shared<LastOutcome>();
  KeyReader reader;
  TerminalInput input;
  while (!stop.stopped() && terminal.is_open()) {
    const std::string bytes = terminal.read(kBetweenPages, stop.file());
    for (const Key& key : bytes.empty() ? reader.pause() : reader.read(bytes)) {
      const LiveState state = live.state();
      const bool is_lost = state.feed.kind == FeedState::Kind::lost;  // what is shown is old
      FaceAction action =
          input.key(key, TerminalInput::Clock::now(), state, is_lost ? nullptr : live.sight());
      if (!act(live, std::move(action), outcome)) return {};
    }
    ScreenContent content;
    content.state = live.state();
    content.sight = live.sight();
    content.current = input.current();
    content.prompt = input.prompt();
    content.help = input.shows_help();
    outcome->tell(content);
    if (!input.remark().empty()) {
      content.message = input.remark();
      content.failed = false;
    }
    const RawTerminal::Size size = terminal.size();
    terminal.show(draw_screen(content, {size.columns, size.rows, colour, picture}));
  }
  return {};
}

}  // namespace engram
