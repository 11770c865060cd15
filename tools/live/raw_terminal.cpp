#include "tools/live/raw_terminal.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <utility>

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "tools/console/terminal.h"

namespace engram {
namespace {

// Another page, no cursor; and back.
constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[2J", kLeave = "\x1b[?25h\x1b[?1049l";
constexpr int kCrashes[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGQUIT};

// Handlers can reach nothing else. Everything they call is allowed in one (man signal-safety).
termios as_before, as_ours;
std::atomic<bool> is_raw{false}, is_fresh{true};

void write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(std::size_t(written));
    } else if (errno != EINTR && errno != EAGAIN) {
      return;
    }
  }
}

void become_raw() {
  ::tcsetattr(STDIN_FILENO, TCSANOW, &as_ours);
  write_all(kEnter);
  is_raw = true;
  is_fresh = true;
}

void become_as_before() {
  if (!is_raw.exchange(false)) return;
  write_all(kLeave);
  ::tcsetattr(STDIN_FILENO, TCSANOW, &as_before);
}

void set_handler(int signal, void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  action.sa_flags = flags;
  ::sigaction(signal, &action, nullptr);
}

bool has_handler(int signal, void (*handler)(int)) {
  struct sigaction now {};
  return ::sigaction(signal, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 &&
         now.sa_handler == handler;
}

// Others' handlers (a sanitizer's) are left alone.
void exchange_handler(int signal, void (*from)(int), void (*to)(int), int flags) {
  if (has_handler(signal, from)) set_handler(signal, to, flags);
}

// Also behind std::terminate and ENGRAM_CHECK, which abort.
extern "C" void engram_terminal_crash(int signal) {
  become_as_before();
  set_handler(signal, SIG_DFL, 0);
  ::raise(signal);
}

// Ctrl-Z: the shell gets the terminal as it knows it, and the program stops here until it goes on.
extern "C" void engram_terminal_stop(int) {
  const int error = errno;
  become_as_before();
  set_handler(SIGTSTP, SIG_DFL, 0);
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  ::raise(SIGTSTP);
  ::pthread_sigmask(SIG_UNBLOCK, &stop, nullptr);  // stops now
  set_handler(SIGTSTP, engram_terminal_stop, SA_RESTART);
  become_raw();
  errno = error;
}

}  // namespace

Result<RawTerminal> RawTerminal::enter() {
  if (!is_terminal(stdin) || !is_terminal(stdout) || ::tcgetattr(STDIN_FILENO, &as_before) != 0) {
    return Status(Code::not_supported, "standard input and output are no terminal");
  }
  as_ours = as_before;
  as_ours.c_lflag &= ~tcflag_t(ICANON | ECHO);  // signals stay: Ctrl-C ends, Ctrl-Z stops
  as_ours.c_iflag &= ~tcflag_t(IXON | ICRNL);
  as_ours.c_cc[VMIN] = 0;
  as_ours.c_cc[VTIME] = 0;
  for (const int signal : kCrashes) exchange_handler(signal, SIG_DFL, engram_terminal_crash, 0);
  exchange_handler(SIGTSTP, SIG_DFL, engram_terminal_stop, SA_RESTART);
  become_raw();
  return RawTerminal();
}

RawTerminal::RawTerminal(RawTerminal&& other) noexcept
    : is_ours_(std::exchange(other.is_ours_, false)),
      is_open_(other.is_open_),
      shown_(std::move(other.shown_)) {}

RawTerminal::~RawTerminal() {
  if (!is_ours_) return;
  become_as_before();
  for (const int signal : kCrashes) exchange_handler(signal, engram_terminal_crash, SIG_DFL, 0);
  exchange_handler(SIGTSTP, engram_terminal_stop, SIG_DFL, 0);
}

std::string RawTerminal::read(int patience_ms, int other) {
  pollfd wanted[2] = {{STDIN_FILENO, POLLIN, 0}, {other, POLLIN, 0}};
  if (::poll(wanted, other >= 0 ? 2 : 1, patience_ms) <= 0) return "";
  if ((wanted[0].revents & (POLLIN | POLLHUP | POLLERR | POLLNVAL)) == 0) return "";
  char bytes[256];
  const ssize_t count = ::read(STDIN_FILENO, bytes, sizeof bytes);
  if (count > 0) return std::string(bytes, std::size_t(count));
  const bool is_over = count == 0 || (errno != EINTR && errno != EAGAIN);
  if (is_over) is_open_ = false;
  return "";
}

RawTerminal::Size RawTerminal::size() const {
  winsize now{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &now) != 0 || now.ws_col == 0 || now.ws_row == 0)
    return {};
  return {now.ws_col, now.ws_row};
}

void RawTerminal::show(const std::vector<std::string>& lines) {
  std::string page = "\x1b[H";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    page += (i > 0 ? "\r\n" : "") + lines[i] + "\x1b[K";
  }
  page += "\x1b[J";
  const bool fresh = is_fresh.exchange(false);
  if (!fresh && page == shown_) return;
  write_all(page);
  shown_ = std::move(page);
}

}  // namespace engram
