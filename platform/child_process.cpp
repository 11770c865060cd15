#include "platform/child_process.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

extern char** environ;

namespace engram {

namespace {

constexpr std::size_t kMaxOutput = 64 * 1024;

int start(const ChildRequest& request, int output, pid_t& child) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  if (request.with_errors) {
    posix_spawn_file_actions_adddup2(&actions, output, 2);
  } else {
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  }
  // Last, so that it lies on nothing that is still needed; a copy has no close-on-exec.
  if (request.hand_over >= 0) {
    posix_spawn_file_actions_adddup2(&actions, request.hand_over, kHandedOver);
  }
  // A group of its own, so that a timeout also ends what the child has started.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  std::vector<char*> arguments;
  for (const std::string& argument : request.arguments) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  const int error =
      ::posix_spawnp(&child, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

// Gives away whole lines of what came since.
void give_lines(std::string& rest, const std::function<void(const std::string&)>& on_line) {
  for (std::size_t end; (end = rest.find('\n')) != std::string::npos;) {
    const std::string line = rest.substr(0, end);
    rest.erase(0, end + 1);
    on_line(line);
  }
  if (rest.size() > kMaxOutput) rest.clear();  // no line of anything that we know
}

// Reads until the child has closed its end, its time is up or it shall stop.
void read_output(int pipe, const ChildRequest& request, ChildOutcome& outcome) {
  constexpr long kLookForStop = 50;  // ms
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(request.seconds);
  std::string rest;
  for (;;) {
    const long left = std::chrono::duration_cast<std::chrono::milliseconds>(
                          end - std::chrono::steady_clock::now())
                          .count();
    outcome.timed_out = left <= 0;
    outcome.stopped = request.stop != nullptr && request.stop->load();
    if (outcome.timed_out || outcome.stopped) return;
    const long wait = request.stop == nullptr ? left : std::min(left, kLookForStop);
    pollfd wanted{.fd = pipe, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&wanted, 1, static_cast<int>(wait));
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    char part[4096];
    const ssize_t count = ::read(pipe, part, sizeof part);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    outcome.output.append(part, static_cast<std::size_t>(count));
    if (outcome.output.size() > kMaxOutput) {
      outcome.output.erase(0, outcome.output.size() - kMaxOutput);
    }
    if (!request.on_line) continue;
    rest.append(part, static_cast<std::size_t>(count));
    give_lines(rest, request.on_line);
  }
}

}  // namespace

Result<ChildOutcome> run_child(const ChildRequest& request) {
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) {
    return Status(Code::io_failure, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  }
  pid_t child = 0;
  const int error = start(request, pipe[1], child);
  ::close(pipe[1]);
  ChildOutcome outcome;
  if (error != 0) {
    ::close(pipe[0]);
    if (error != ENOENT && error != EACCES) {
      return Status(Code::io_failure,
                    fmt::format("cannot start {}: {}", request.arguments[0], std::strerror(error)));
    }
    outcome.exit_code = 127;
    return outcome;
  }
  read_output(pipe[0], request, outcome);
  ::close(pipe[0]);
  if (outcome.timed_out || outcome.stopped) ::kill(-child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  return outcome;
}

void end_with_parent() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
}

std::string failure_line(const Status& failure) {
  std::string line = fmt::format("{} {}", int(failure.code()), failure.what());
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

Status failure_of(const std::string& line) {
  char* rest = nullptr;
  const long code = std::strtol(line.c_str(), &rest, 10);
  const bool known = code > long(Code::ok) && code <= long(Code::internal) && *rest == ' ';
  return Status(known ? static_cast<Code>(code) : Code::internal, known ? rest + 1 : line);
}

void limit_this_process(int resource, std::int64_t value) {
  const rlimit bound{static_cast<rlim_t>(value), static_cast<rlim_t>(value)};
  ::setrlimit(static_cast<__rlimit_resource>(resource), &bound);  // best effort
}

}  // namespace engram
