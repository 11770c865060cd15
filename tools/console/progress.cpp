#include "tools/console/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "platform/steady_time.h"
#include "tools/console/terminal.h"

namespace engram {
namespace {

constexpr double kAppearAfter = 0.5;  // seconds
constexpr int kBarColumns = 24;

// Half a column is the finest step: ╸ ends a bar that stopped in the middle of one.
std::string bar(double share, int columns) {
  const int halves = static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * 2 * columns));
  std::string text;
  for (int i = 0; i < columns; ++i) {
    text += 2 * i + 1 < halves ? "━" : 2 * i < halves ? "╸" : "─";
  }
  return text;
}

}  // namespace

std::string duration_text(double seconds) {
  if (seconds < 10) return fmt::format("{:.2f} s", seconds);
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string render_progress(const ProgressState& state, int columns) {
  std::string line = state.what;
  if (state.total <= 0) {
    line += fmt::format("  {:.0f} s", state.seconds);
    return shorten(line, columns);
  }
  const double share = static_cast<double>(state.done) / static_cast<double>(state.total);
  const bool is_told = !state.tail.empty();
  std::string tail = is_told ? state.tail : fmt::format("{}/{}", state.done, state.total);
  if (!is_told && state.done > 0 && state.seconds > 0) {
    const double rate = static_cast<double>(state.done) / state.seconds;
    if (!state.unit.empty()) {
      tail += fmt::format("  {:.{}f} {}/s", rate, rate < 10 ? 1 : 0, state.unit);
    }
    if (state.done < state.total) {
      const double left = std::ceil(static_cast<double>(state.total - state.done) / rate);
      tail +=
          fmt::format("  {} left", left < 10 ? fmt::format("{:.0f} s", left) : duration_text(left));
    }
  }
  const int room = columns - display_width(line) - display_width(tail) - 4;
  if (room >= 4) line += "  " + bar(share, std::min(room, kBarColumns));
  return shorten(line + "  " + tail, columns);
}

Progress::Progress(bool enabled, std::string what, std::int64_t total, std::string unit)
    : state_{std::move(what), std::move(unit), 0, total, 0, {}}, start_(seconds_now()) {
  if (!enabled || !can_repaint(stderr)) return;
  try {
    painter_ = std::thread([this] { repaint_until_finished(); });
  } catch (const std::exception&) {  // no thread to be had: the work goes on without a bar
  }
}

Progress::~Progress() {
  finish();
}

void Progress::expect(std::int64_t total) {
  const std::lock_guard lock(mutex_);
  state_.total = total;
}

void Progress::rename(std::string what) {
  const std::lock_guard lock(mutex_);
  state_.what = std::move(what);
}

void Progress::tell(std::string tail) {
  const std::lock_guard lock(mutex_);
  state_.tail = std::move(tail);
}

void Progress::without_bar(const std::function<void()>& say) {
  const std::lock_guard lock(mutex_);  // nobody paints meanwhile
  if (is_terminal(stdout)) wipe();     // else what is said does not come to where the bar is
  say();
}

double Progress::seconds() const {
  return seconds_now() - start_;
}

void Progress::finish() {
  if (!painter_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
  }
  ended_.notify_all();
  painter_.join();
}

void Progress::repaint_until_finished() {
  const bool colour = wants_colour(stderr);
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, std::chrono::milliseconds(100), [this] { return finished_; })) {
    ProgressState state = state_;
    state.done = done_;
    state.seconds = seconds();
    if (state.seconds < kAppearAfter) continue;
    const std::string line = render_progress(state, terminal_columns(stderr) - 1);
    std::fprintf(stderr, "\r\x1b[K%s", paint(line, Style::cyan, colour).c_str());
    std::fflush(stderr);
    painted_ = true;
  }
  wipe();
}

void Progress::wipe() {
  if (painted_) std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  painted_ = false;
}

}  // namespace engram
