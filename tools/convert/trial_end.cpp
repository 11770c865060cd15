#include "tools/convert/trial_end.h"

#include <csignal>
#include <cstring>

#include <fmt/format.h>

namespace engram {

Status stopped_adding() {
  return Status(Code::busy, "stopped as asked. Nothing was added");
}

Status ended_by_force(const ChildOutcome& outcome, const std::string& path, std::int64_t memory,
                      int seconds) {
  const auto failed = [&](const std::string& what) {
    return Status(Code::bad_data, fmt::format("{}: {}", path, what));
  };
  if (outcome.stopped) return stopped_adding();
  if (outcome.timed_out || outcome.signal == SIGALRM) {
    return failed(fmt::format("it took longer than {} s to load and try", seconds));
  }
  if (outcome.signal == 0) return {};
  // Nothing that a model does ends in this signal: somebody sent it, most likely the kernel.
  if (outcome.signal == SIGKILL) {
    return Status(Code::out_of_memory,
                  fmt::format("{}: the process that tried it was killed, perhaps for want of "
                              "memory. Free some and try again, or choose a smaller model",
                              path));
  }
  return failed(
      fmt::format("it made OpenVINO crash ({}): the file is damaged or hostile, or needs "
                  "more than {} GB of memory",
                  ::strsignal(outcome.signal), memory >> 30));
}

Status refused_in_trial(const std::string& line, const std::string& path, std::int64_t memory) {
  Status failure = failure_of(line);
  // OpenVINO passes on some exceptions of its parts as a text.
  const bool lacked_memory =
      failure.code() == Code::out_of_memory || std::strstr(failure.what(), "bad_alloc") != nullptr;
  if (!lacked_memory) return failure;
  return Status(Code::bad_data,
                fmt::format("{}: it needs more than {} GB of memory", path, memory >> 30));
}

Status did_not_start(const ChildOutcome& outcome, const std::string& path) {
  return Status(Code::internal,
                fmt::format("{} could not be tried: the program did not start itself again (exit "
                            "code {})",
                            path, outcome.exit_code));
}

}  // namespace engram
