#include "platform/engine_build.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "platform/child_process.h"
#include "platform/descriptor.h"
#include "platform/engine_build_lines.h"
#include "platform/file.h"
#include "platform/steady_time.h"

namespace engram {

namespace {

constexpr double kEarly = 0.02;  // of the work: what is left cannot be told yet

Result<std::vector<std::byte>> content_of(int file, const std::string& model) {
  struct stat info {};
  if (::fstat(file, &info) != 0 || info.st_size <= 0) {
    return Status(Code::internal, fmt::format("{}: the engine that was built is empty", model));
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(info.st_size));
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t count =
        ::pread(file, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      return Status(Code::internal, fmt::format("{}: its engine could not be read", model));
    }
    done += static_cast<std::size_t>(count);
  }
  return bytes;
}

// What the child said, line by line.
class Listener {
 public:
  explicit Listener(const OnBuild& on_progress) : on_progress_(on_progress) {}
  void hear(const std::string& line) {
    if (line.rfind(kProgressLine, 0) == 0)
      return progress(line.c_str() + std::strlen(kProgressLine));
    good_ = good_ || line == kGoodLine;
    if (line.rfind(kBadLine, 0) == 0) bad_ = line.substr(std::strlen(kBadLine));
  }
  bool good() const { return good_; }
  const std::string& bad() const { return bad_; }

 private:
  void progress(const char* number) {
    const double fraction = std::clamp(std::atof(number), 0.0, 1.0);
    if (!on_progress_ || fraction < last_) return;
    last_ = fraction;
    const double seconds = seconds_since(start_);
    const double left = fraction < kEarly ? -1 : seconds * (1 - fraction) / fraction;
    on_progress_({.fraction = fraction, .seconds = seconds, .seconds_left = left});
  }

  const OnBuild& on_progress_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double last_ = 0;
  bool good_ = false;
  std::string bad_;
};

Status ended(const ChildOutcome& outcome, const EngineRequest& request, int seconds) {
  const int signal =
      outcome.signal;  // whoever ends us, a service manager say, ends the child as well
  if (outcome.stopped || signal == SIGTERM || signal == SIGINT || signal == SIGHUP) {
    return Status(Code::busy, fmt::format("{}: building its engine was stopped", request.model));
  }
  if (outcome.timed_out) {
    return Status(Code::device_failure,
                  fmt::format("{}: building its engine took longer than {} s and was given up",
                              request.model, seconds));
  }
  if (signal == SIGKILL) {
    return Status(Code::out_of_memory,
                  fmt::format("{}: building its engine was ended by the system, probably for want "
                              "of memory. Close other programs and try again.",
                              request.model));
  }
  if (signal != 0) {
    return Status(Code::device_failure, fmt::format("{}: building its engine crashed ({})",
                                                    request.model, ::strsignal(signal)));
  }
  return Status(Code::internal,
                fmt::format("{}: building its engine ended without a word (exit code {})",
                            request.model, outcome.exit_code));
}

}  // namespace

bool& serves_engine_builds() {
  static bool serves = false;
  return serves;
}

std::int64_t usual_build_memory(std::int64_t available_bytes) {
  constexpr std::int64_t kEnough = std::int64_t{4} << 30;
  return available_bytes > 0 ? std::min(kEnough, available_bytes / 2) : kEnough;
}

Result<std::vector<std::byte>> build_engine(const EngineLibrary& library,
                                            const EngineRequest& request,
                                            const BuildOptions& options) {
  if (!serves_engine_builds()) {
    return Status(Code::not_supported,
                  fmt::format("{}: this program cannot build engines. Build it once with: engram "
                              "model engine NAME",
                              request.model));
  }
  const Descriptor engine(::memfd_create("engram-engine", MFD_CLOEXEC));
  if (engine.get() < 0) return call_failed("engine", "memfd_create", errno, "No engine was built.");
  Listener listener(options.on_progress);
  if (options.on_progress) options.on_progress({});  // it begins: the library is silent at first
  ENGRAM_ASSIGN(
      const ChildOutcome outcome,
      run_child({.arguments = {"/proc/self/exe", kBuildFlag, library.name(), request.model,
                               request.output, std::to_string(request.height),
                               std::to_string(request.width), std::to_string(request.batch),
                               name(request.precision), std::to_string(request.memory),
                               std::to_string(options.seconds)},
                 .seconds = options.seconds,
                 .hand_over = engine.get(),
                 .on_line = [&](const std::string& line) { listener.hear(line); },
                 .stop = options.stop}));
  if (listener.good() && !outcome.stopped) return content_of(engine.get(), request.model);
  if (!listener.bad().empty()) return failure_of(listener.bad());
  return ended(outcome, request, options.seconds);
}

}  // namespace engram
