// The child of engine_build.h.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include <fmt/format.h>

#include "platform/child_process.h"
#include "platform/engine_build.h"
#include "platform/engine_build_lines.h"
#include "platform/file.h"
#include "platform/onnx_half.h"
#include "platform/sanitized.h"

namespace engram {

namespace {

constexpr std::size_t kMaxModel = std::size_t{1} << 31;  // protobuf's own limit
constexpr double kLeastStep = 0.001;                     // of progress worth a line

void bind_this_process(const EngineRequest& request) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (!kSanitized) limit_this_process(RLIMIT_DATA, request.memory);
  limit_this_process(RLIMIT_CORE, 0);
  // The first to go when memory is short. Best effort: not every system lets it be said.
  const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file >= 0) {
    [[maybe_unused]] const ssize_t written = ::write(file, "1000", 4);
    ::close(file);
  }
  [[maybe_unused]] const int nice = ::nice(5);  // the CPU answers meanwhile
}

void say(const std::string& line) {
  std::fputs((line + "\n").c_str(), stdout);
  std::fflush(stdout);
}

Result<std::vector<std::byte>> build_here(EngineLibrary& library, const EngineRequest& request) {
  ENGRAM_ASSIGN(std::vector<std::byte> onnx, read_file(request.model, kMaxModel));
  if (request.precision == Precision::half) {
    ENGRAM_ASSIGN(const HalfOnnx half, onnx_to_half(onnx, request.model, request.output));
    const auto bytes = std::as_bytes(std::span(half.file));
    onnx.assign(bytes.begin(), bytes.end());
  }
  double said = 0;
  return library.build(onnx, request, [&](double fraction) {
    if (fraction < said + kLeastStep) return;
    said = fraction;
    say(fmt::format("{}{:.4f}", kProgressLine, fraction));
  });
}

Result<std::vector<std::byte>> without_exceptions(EngineLibrary& library,
                                                  const EngineRequest& request) {
  try {
    return build_here(library, request);
  } catch (const std::bad_alloc&) {
    return Status(
        Code::out_of_memory,
        fmt::format("{}: building its engine needs more than {} MB of memory. Close other "
                    "programs, or allow more with: engram model engine NAME --memory MB",
                    request.model, request.memory >> 20));
  } catch (const std::exception& error) {
    return Status(Code::internal,
                  fmt::format("{}: building its engine failed: {}", request.model, error.what()));
  }
}

}  // namespace

EngineLibrary* find_engine_library(const std::string& name) {
  EngineLibrary* library = engine_library();
  return library != nullptr && library->name() == name ? library : nullptr;
}

std::optional<int> serve_engine_build(int argc, char** argv, FindLibrary find) {
  serves_engine_builds() = true;
  if (argc != kBuildArguments || std::strcmp(argv[1], kBuildFlag) != 0) return std::nullopt;
  const EngineRequest request{.model = argv[3],
                              .output = argv[4],
                              .height = std::atoi(argv[5]),
                              .width = std::atoi(argv[6]),
                              .batch = std::atoi(argv[7]),
                              .precision = std::strcmp(argv[8], name(Precision::half)) == 0
                                               ? Precision::half
                                               : Precision::full,
                              .memory = std::atoll(argv[9])};
  bind_this_process(request);
  limit_this_process(RLIMIT_CPU, 64 * std::atoll(argv[10]));
  EngineLibrary* library = find(argv[2]);
  Result<std::vector<std::byte>> engine =
      library == nullptr
          ? Status(Code::not_supported, fmt::format("this program has no {}", argv[2]))
          : without_exceptions(*library, request);
  if (engine.ok()) {
    const int error = write_fully(real_files(), kHandedOver, *engine, 0);
    if (error != 0) {
      engine =
          Status(Code::out_of_memory, fmt::format("{}: its engine could not be handed over: {}",
                                                  request.model, std::strerror(error)));
    }
  }
  if (engine.ok()) {
    say(kGoodLine);
  } else {
    say(kBadLine + failure_line(engine.status()));
  }
  std::_Exit(0);  // a library that made it this far must not crash in a destructor
}

}  // namespace engram
