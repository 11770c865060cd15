#include "tools/convert/model_trial.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <malloc.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "engine/feature_extractor.h"
#include "platform/child_process.h"
#include "platform/finite.h"
#include "platform/sanitized.h"
#include "platform/threads.h"
#include "tools/convert/calibration_pictures.h"
#include "tools/convert/trial_end.h"

namespace engram {

namespace {

constexpr const char* kFlag = "--try-model";
constexpr const char* kGood = "good ";
constexpr const char* kBad = "bad ";

// Measuring: lines instead.
constexpr const char* kMeasureFlag = "--measure-model";
constexpr int kMeasureBatch = 8;
// A batch of pictures, and the file that is being decoded: no fault of the model's.
constexpr std::int64_t kRoomForPictures = kCalibrationBytes + std::int64_t{kMaxImageBytes};

// One grey picture needs no more; each thread takes address space, which is limited.
constexpr int kTrialThreads = 2;

// First in a child. An arena of malloc reserves 64 MiB of address space, and there would be several
// per core: on a machine of many cores they alone could reach the limit.
void begin_as_child(std::int64_t memory) {
  end_with_parent();
  constexpr int kArenas = 4;
  ::mallopt(M_ARENA_MAX, kArenas);
  if (!kSanitized) limit_this_process(RLIMIT_AS, memory);
  limit_this_process(RLIMIT_CORE, 0);
}

// In the child: one inference of a grey picture.
Result<TrialReport> try_here(const BackboneOptions& options) {
  ENGRAM_ASSIGN(const auto backbone, open_backbone_openvino(options));
  std::vector<float> picture(static_cast<std::size_t>(backbone->input_values()), 0.1f);
  std::vector<float> features(static_cast<std::size_t>(backbone->features()));
  ENGRAM_TRY(backbone->run({picture.data(), 1, backbone->input_values(), backbone->input_values()},
                           {features.data(), 1, backbone->features(), backbone->features()}));
  if (!are_finite(features)) {
    return Status(
        Code::bad_data,
        fmt::format("{}: its features of a grey picture are not finite numbers", options.model));
  }
  return TrialReport{.features = backbone->features()};
}

// In the child. A batch that takes too long ends it by SIGALRM; reading pictures is not the model's
// time.
Result<ModelMeasurement> measure_here(const StoredModel& model, const std::string& pictures_dir,
                                      int threads, unsigned seconds) {
  ENGRAM_ASSIGN(auto pictures, CalibrationPictures::open(pictures_dir));
  ::alarm(seconds);
  ENGRAM_ASSIGN(auto extractor,
                FeatureExtractor::open(model, {.threads = threads, .batch = kMeasureBatch}));
  const int width = extractor.features();
  std::vector<float> features(std::size_t{kMostCalibrationPictures} *
                              static_cast<std::size_t>(width));
  const MatrixView<float> all{features.data(), kMostCalibrationPictures, width, width};
  for (;;) {
    ::alarm(0);
    ENGRAM_ASSIGN(const auto batch, pictures.next(kMeasureBatch));
    ::alarm(seconds);
    if (batch.empty()) break;
    const int rows = static_cast<int>(batch.size());
    const int done = pictures.given();
    ENGRAM_TRY(extractor.extract(std::span(batch), all.row_range(done - rows, rows)));
    std::printf("at %d %d\n", done, done + pictures.left());
    std::fflush(stdout);
  }
  const int count = pictures.given();
  const Result<Calibration> calibration = calibrate(all.row_range(0, count));
  if (!calibration.ok()) {
    const Status& why = calibration.status();
    return Status(why.code(), fmt::format("{}: its features of pictures cannot be used: {}",
                                          model.onnx, why.what()));
  }
  return ModelMeasurement{.calibration = calibration.value(), .pictures = count};
}

// Weights exist several times over while a model is compiled.
std::int64_t memory_to_try(const std::string& path, const TrialLimits& limits) {
  struct stat file {};
  ::stat(path.c_str(), &file);
  return std::max(limits.memory_bytes, std::int64_t{6} * file.st_size);
}

int serve_measuring(char** argv) {
  begin_as_child(std::atoll(argv[6]) + kRoomForPictures);
  const std::int64_t seconds = std::atoll(argv[7]);
  limit_this_process(RLIMIT_CPU, 64 * kMostCalibrationPictures * seconds);
  const auto measure = [&]() -> Result<ModelMeasurement> {
    ENGRAM_ASSIGN(const ModelCard card, parse_card(argv[3]));
    const int threads = std::atoi(argv[5]);
    set_thread_count(threads);
    return measure_here({.card = card, .onnx = argv[2], .problem = {}}, argv[4], threads,
                        static_cast<unsigned>(seconds));
  };
  const auto measured = measure();
  if (measured.ok()) {
    const Calibration& found = measured->calibration;
    std::printf("%s%a %d %d\n", kGood, double(found.feature_scale), int(found.hidden_mul),
                measured->pictures);
  } else {
    std::printf("%s%s\n", kBad, failure_line(measured.status()).c_str());
  }
  std::fflush(stdout);
  std::_Exit(0);
}

}  // namespace

Result<TrialReport> try_model(const BackboneOptions& options, const TrialLimits& limits) {
  const std::int64_t memory = memory_to_try(options.model, limits);
  ENGRAM_ASSIGN(
      const ChildOutcome outcome,
      run_child({.arguments = {"/proc/self/exe", kFlag, options.model, options.output,
                               std::to_string(options.height), std::to_string(options.width),
                               std::to_string(memory), std::to_string(limits.seconds)},
                 .seconds = limits.seconds,
                 .stop = limits.stop}));
  ENGRAM_TRY(ended_by_force(outcome, options.model, memory, limits.seconds));
  if (outcome.output.rfind(kGood, 0) == 0) {
    return TrialReport{.features = std::atoi(outcome.output.c_str() + std::strlen(kGood))};
  }
  if (outcome.output.rfind(kBad, 0) == 0) {
    const std::string said = outcome.output.substr(std::strlen(kBad));
    return Status(Code::bad_data, refused_in_trial(said, options.model, memory).what());
  }
  return did_not_start(outcome, options.model);
}

Result<ModelMeasurement> measure_model(const StoredModel& model, const std::string& pictures_dir,
                                       int threads,
                                       const std::function<void(int done, int total)>& progress,
                                       const TrialLimits& limits) {
  ModelCard card = model.card;
  card.feature_scale = 1;  // until they are known: a card must have some
  card.hidden_mul = 1;
  const std::int64_t memory = memory_to_try(model.onnx, limits);
  ModelMeasurement measured;
  Status failure;
  bool done = false;
  const auto on_line = [&](const std::string& line) {
    int first = 0, second = 0;
    if (std::sscanf(line.c_str(), "at %d %d", &first, &second) == 2) {
      if (progress) progress(first, second);
    } else if (std::sscanf(line.c_str(), "good %a %d %d", &measured.calibration.feature_scale,
                           &measured.calibration.hidden_mul, &measured.pictures) == 3) {
      done = true;
    } else if (line.rfind(kBad, 0) == 0) {
      failure = refused_in_trial(line.substr(std::strlen(kBad)), model.onnx, memory);
    }
  };
  // Each batch has its own time; this is for a child that does not even come to its first.
  const int all_batches = 2 + kMostCalibrationPictures / kMeasureBatch;
  ENGRAM_ASSIGN(const ChildOutcome outcome,
                run_child({.arguments = {"/proc/self/exe", kMeasureFlag, model.onnx, to_json(card),
                                         pictures_dir, std::to_string(threads),
                                         std::to_string(memory), std::to_string(limits.seconds)},
                           .seconds = all_batches * limits.seconds,
                           .on_line = on_line,
                           .stop = limits.stop}));
  ENGRAM_TRY(ended_by_force(outcome, model.onnx, memory, limits.seconds));
  ENGRAM_TRY(failure);
  if (!done) return did_not_start(outcome, model.onnx);
  return measured;
}

std::optional<int> serve_model_trial(int argc, char** argv) {
  if (argc == 8 && std::strcmp(argv[1], kMeasureFlag) == 0) return serve_measuring(argv);
  if (argc != 8 || std::strcmp(argv[1], kFlag) != 0) return std::nullopt;
  begin_as_child(std::atoll(argv[6]));
  limit_this_process(RLIMIT_CPU, 64 * std::atoll(argv[7]));  // should the parent be gone
  const auto report = try_here({.model = argv[2],
                                .output = argv[3],
                                .height = std::atoi(argv[4]),
                                .width = std::atoi(argv[5]),
                                .threads = kTrialThreads,
                                .batch = 1});
  if (report.ok()) {
    std::printf("%s%d", kGood, report->features);
  } else {
    std::printf("%s%s", kBad, failure_line(report.status()).c_str());
  }
  std::fflush(stdout);
  std::_Exit(0);  // a model that made it this far must not crash in a destructor
}

}  // namespace engram
