#include "tools/live/stop_signals.h"

#include <atomic>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace engram {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

// A handler can reach nothing else.
std::atomic<bool> was_stopped{false};
int pipe_ends[2] = {-1, -1};
struct sigaction before[3];

extern "C" void engram_note_stop(int) {
  const int error = errno;
  was_stopped = true;
  const char byte = 1;
  (void)!::write(pipe_ends[1], &byte, 1);
  errno = error;
}

}  // namespace

StopSignals::StopSignals() {
  was_stopped = false;
  if (::pipe2(pipe_ends, O_CLOEXEC | O_NONBLOCK) != 0) pipe_ends[0] = pipe_ends[1] = -1;
  struct sigaction action {};
  action.sa_handler = engram_note_stop;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (int i = 0; i < 3; ++i) {
    ::sigaction(kSignals[i], nullptr, &before[i]);
    if (before[i].sa_handler != SIG_IGN) ::sigaction(kSignals[i], &action, nullptr);  // nohup
  }
}

StopSignals::~StopSignals() {
  for (int i = 0; i < 3; ++i) ::sigaction(kSignals[i], &before[i], nullptr);
  for (int& end : pipe_ends) {
    if (end >= 0) ::close(end);
    end = -1;
  }
}

bool StopSignals::stopped() const {
  return was_stopped;
}

const std::atomic<bool>& StopSignals::flag() const {
  return was_stopped;
}

int StopSignals::file() const {
  return pipe_ends[0];
}

bool StopSignals::wait(std::chrono::milliseconds patience) const {
  pollfd wanted{pipe_ends[0], POLLIN, 0};
  if (!was_stopped) (void)::poll(&wanted, 1, int(patience.count()));
  return was_stopped;
}

}  // namespace engram
