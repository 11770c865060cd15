#include "tools/convert/model_trial.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <sys/stat.h>

#include <fmt/format.h>

#include "platform/child_process.h"
#include "platform/sanitized.h"

namespace engram {

namespace {

constexpr const char* kFlag = "--try-model";
constexpr const char* kGood = "good ";
constexpr const char* kBad = "bad ";

// In the child: one inference of a grey picture.
Result<TrialReport> try_here(const BackboneOptions& options) {
  ENGRAM_ASSIGN(const auto backbone, open_backbone_openvino(options));
  std::vector<float> picture(static_cast<std::size_t>(backbone->input_values()), 0.1f);
  std::vector<float> features(static_cast<std::size_t>(backbone->features()));
  ENGRAM_TRY(backbone->run({picture.data(), 1, backbone->input_values(), backbone->input_values()},
                           {features.data(), 1, backbone->features(), backbone->features()}));
  if (!std::all_of(features.begin(), features.end(), [](float f) { return std::isfinite(f); })) {
    return Status(
        Code::bad_data,
        fmt::format("{}: its features of a grey picture are not finite numbers", options.model));
  }
  return TrialReport{.features = backbone->features()};
}

}  // namespace

Result<TrialReport> try_model(const BackboneOptions& options, const TrialLimits& limits) {
  struct stat file {};
  ::stat(options.model.c_str(), &file);
  // Weights exist several times over while a model is compiled.
  const std::int64_t memory = std::max(limits.memory_bytes, std::int64_t{6} * file.st_size);
  ENGRAM_ASSIGN(
      const ChildOutcome outcome,
      run_child({.arguments = {"/proc/self/exe", kFlag, options.model, options.output,
                               std::to_string(options.height), std::to_string(options.width),
                               std::to_string(memory), std::to_string(limits.seconds)},
                 .seconds = limits.seconds}));
  const auto failed = [&](const std::string& what) {
    return Status(Code::bad_data, fmt::format("{}: {}", options.model, what));
  };
  if (outcome.timed_out) {
    return failed(fmt::format("it took longer than {} s to load and try", limits.seconds));
  }
  if (outcome.signal != 0) {
    return failed(
        fmt::format("it made OpenVINO crash ({}): the file is damaged or hostile, or needs "
                    "more than {} GB of memory",
                    ::strsignal(outcome.signal), memory >> 30));
  }
  if (outcome.output.rfind(kGood, 0) == 0) {
    return TrialReport{.features = std::atoi(outcome.output.c_str() + std::strlen(kGood))};
  }
  if (outcome.output.rfind(kBad, 0) == 0) {
    const std::string what = outcome.output.substr(std::strlen(kBad));
    if (what.find("bad_alloc") != std::string::npos) {
      return failed(fmt::format("it needs more than {} GB of memory", memory >> 30));
    }
    return Status(Code::bad_data, what);
  }
  return Status(Code::internal,
                fmt::format("{} could not be tried: the program did not start itself again (exit "
                            "code {})",
                            options.model, outcome.exit_code));
}

std::optional<int> serve_model_trial(int argc, char** argv) {
  if (argc != 8 || std::strcmp(argv[1], kFlag) != 0) return std::nullopt;
  if (!kSanitized) limit_this_process(RLIMIT_AS, std::atoll(argv[6]));
  limit_this_process(RLIMIT_CPU, 64 * std::atoll(argv[7]));  // should the parent be gone
  limit_this_process(RLIMIT_CORE, 0);
  const auto report = try_here({.model = argv[2],
                                .output = argv[3],
                                .height = std::atoi(argv[4]),
                                .width = std::atoi(argv[5]),
                                .threads = 0,
                                .batch = 1});
  if (report.ok()) {
    std::printf("%s%d", kGood, report->features);
  } else {
    std::printf("%s%s", kBad, report.status().what());
  }
  std::fflush(stdout);
  std::_Exit(0);  // a model that made it this far must not crash in a destructor
}

}  // namespace engram
