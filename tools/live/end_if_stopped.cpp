#include "tools/live/end_if_stopped.h"

#include <cstdint>
#include <system_error>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace engram {

EndIfStopped::EndIfStopped(const StopSignals& signals, std::function<void()> end)
    : signals_(signals), end_(std::move(end)), done_(::eventfd(0, EFD_CLOEXEC)) {
  if (done_.get() < 0) return;
  try {
    watcher_ = std::thread([this] { watch(); });
  } catch (const std::system_error&) {  // no thread to be had
  }
}

void EndIfStopped::work_is_done() {
  if (!watcher_.joinable()) return;
  while (decided_.exchange(true)) ::pause();  // the program is ending
  const std::uint64_t one = 1;
  (void)!::write(done_.get(), &one, sizeof(one));
  watcher_.join();
}

void EndIfStopped::watch() {
  pollfd wanted[] = {{signals_.file(), POLLIN, 0}, {done_.get(), POLLIN, 0}};
  while (!signals_.stopped()) {
    (void)::poll(wanted, 2, -1);
    if (wanted[1].revents != 0) return;
  }
  if (!decided_.exchange(true)) end_();
}

}  // namespace engram
