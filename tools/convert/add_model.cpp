#include "tools/convert/add_model.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "platform/file.h"
#include "platform/hash.h"
#include "tools/convert/calibration_pictures.h"
#include "tools/convert/candidate.h"
#include "tools/convert/model_trial.h"
#include "tools/convert/onnx_check.h"
#include "tools/convert/pickle.h"
#include "tools/convert/preprocess_choice.h"
#include "tools/convert/scratch_folder.h"
#include "tools/convert/trial_end.h"

namespace engram {

namespace {

const BuiltinModel* find_builtin(const std::string& name) {
  const auto& models = builtin_models();
  const auto found = std::find_if(models.begin(), models.end(),
                                  [&](const auto& model) { return model.name == name; });
  return found == models.end() ? nullptr : &*found;
}

BackboneOptions trial_options(const Candidate& candidate) {
  return {.model = candidate.path,
          .output = candidate.card.output,
          .height = candidate.card.preprocess.crop,
          .width = candidate.card.preprocess.crop,
          .threads = 0,
          .batch = 1};
}

// Between the steps that are no child process.
Status go_on(const AddModelRequest& request) {
  return request.stop != nullptr && request.stop->load() ? stopped_adding() : Status();
}

// Messages of the trial name the file as the user knows it.
Status in_users_words(const Status& status, const std::string& path, const std::string& file) {
  std::string what = status.what();
  // On behind each: the file's own name may hold the path, or be it.
  for (auto at = what.find(path); at != std::string::npos; at = what.find(path, at + file.size())) {
    what.replace(at, path.size(), file);
  }
  return Status(status.code(), what);
}

// Appends the pooling and finds out whether the tensor was tokens (rank 3) or a picture (rank 4)
// where the file does not tell.
Status pool(Candidate& candidate, const AddModelRequest& request, const OnnxSummary& summary,
            const ScratchFolder& folder) {
  std::vector<std::size_t> ranks{3, 4};
  for (const OnnxTensorInfo& output : summary.outputs) {
    if (output.name == candidate.card.output && output.shape.size() >= 3) {
      ranks = {output.shape.size()};
    }
  }
  if (request.pool == Pooling::cls) ranks = {3};
  const std::string tensor = candidate.card.output;
  candidate.card.output = kPooledOutput;
  Status first_failure;
  for (const std::size_t rank : ranks) {
    ENGRAM_ASSIGN(const auto bytes, read_file(request.name_or_file, kMaxOnnx));
    ENGRAM_ASSIGN(candidate.path, with_pooling(bytes, tensor, request.pool, rank, folder));
    const auto report = try_model(trial_options(candidate), {.stop = request.stop});
    if (report.ok()) {
      candidate.card.features = report->features;
      return {};
    }
    if (report.status().code() == Code::busy) return report.status();
    if (first_failure.ok()) first_failure = report.status();
  }
  return Status(
      first_failure.code(),
      fmt::format("{} (with --pool {} of \"{}\")",
                  in_users_words(first_failure, candidate.path, request.name_or_file).what(),
                  name(request.pool), safe_excerpt(tensor)));
}

Result<Candidate> make_from_file(const AddModelRequest& request, const ScratchFolder& folder,
                                 const AddModelProgress& progress) {
  if (!request.from_package.empty()) {
    return Status(Code::invalid_argument,
                  "--from is for built-in models; an ONNX file is complete");
  }
  const std::filesystem::path file(request.name_or_file);
  if (progress) progress("checking " + file.filename().string(), 0, 0);
  ENGRAM_ASSIGN(const MappedFile mapped, MappedFile::open(request.name_or_file));
  ENGRAM_ASSIGN(const OnnxSummary summary, check_onnx(mapped.bytes(), request.name_or_file));
  Candidate candidate;
  ENGRAM_ASSIGN(candidate.card.preprocess, choose_preprocess(request, summary));
  candidate.path = request.name_or_file;
  candidate.card.name = file.stem().string();
  candidate.card.source = "file " + safe_excerpt(file.filename().string());
  candidate.card.licence = "unknown";
  candidate.card.output = request.output;
  if (request.output.empty() && summary.outputs.size() == 1) {
    candidate.card.output = summary.outputs[0].name;
  }
  if (progress) progress("trying " + file.filename().string() + " in a process of its own", 0, 0);
  if (request.pool != Pooling::none && !candidate.card.output.empty()) {
    ENGRAM_TRY(pool(candidate, request, summary, folder));
  } else {
    ENGRAM_ASSIGN(const TrialReport report,
                  try_model(trial_options(candidate), {.stop = request.stop}));
    candidate.card.features = report.features;
  }
  return candidate;
}

// Runs the model on pictures, in a child process, and measures the constants of the exact arithmetic.
Status measure(Candidate& candidate, const AddModelRequest& request,
               const AddModelProgress& progress) {
  const std::string step = "measuring the feature scale";
  if (progress) progress(step, 0, kMostCalibrationPictures);
  const auto follow = [&](int done, int total) {
    if (progress) progress(step, done, total);
  };
  ENGRAM_ASSIGN(
      const ModelMeasurement measured,
      measure_model({.card = candidate.card, .onnx = candidate.path, .problem = {}},
                    request.pictures_dir, request.threads, follow, {.stop = request.stop}));
  candidate.card.feature_scale = measured.calibration.feature_scale;
  candidate.card.hidden_mul = measured.calibration.hidden_mul;
  candidate.card.calibration_pictures = measured.pictures;
  return {};
}

}  // namespace

const char* name(Pooling value) {
  return value == Pooling::cls ? "cls" : value == Pooling::mean ? "mean" : "none";
}

Result<Pooling> parse_pooling(const std::string& text) {
  for (const Pooling value : {Pooling::none, Pooling::cls, Pooling::mean}) {
    if (text == name(value)) return value;
  }
  return Status(Code::invalid_argument,
                fmt::format("\"{}\" is not a pooling; there are: none, cls, mean", text));
}

Result<ModelCard> add_model(const AddModelRequest& request, const AddModelProgress& progress) {
  const BuiltinModel* builtin = find_builtin(request.name_or_file);
  std::error_code ignored;
  if (!builtin && !std::filesystem::exists(request.name_or_file, ignored)) {
    std::string names;
    for (const BuiltinModel& model : builtin_models()) names += " " + model.name;
    return Status(Code::not_found,
                  fmt::format("{}: neither an ONNX file nor a built-in model. Built in:{}",
                              request.name_or_file, names));
  }
  const std::string own =
      builtin ? builtin->name : std::filesystem::path(request.name_or_file).stem().string();
  const std::string name = !request.as_name.empty() ? request.as_name
                           : request.side > 0       ? fmt::format("{}-{}", own, request.side)
                                                    : own;
  if (!is_model_name(name)) {
    return Status(Code::invalid_argument,
                  fmt::format("\"{}\" is not a name for a model: choose one with --as, of letters, "
                              "digits, dots, dashes and underscores",
                              safe_excerpt(name)));
  }
  // Before the long work: a name that is taken.
  const ModelStore store(request.home);
  if (!request.replace) {
    const Status there = store.find(name).status();
    if (there.code() != Code::not_found) {
      const std::string unusable =
          there.ok() ? "" : fmt::format(", but it cannot be used ({})", there.what());
      return Status(Code::invalid_argument,
                    fmt::format("there is a model \"{}\" already{}; it was kept. Use --replace, or "
                                "choose another name with --as",
                                name, unusable));
    }
  }
  ENGRAM_ASSIGN(const ScratchFolder folder, ScratchFolder::make());
  auto made = builtin ? make_builtin(*builtin, request, folder, progress)
                      : make_from_file(request, folder, progress);
  if (!made.ok()) return made.status();
  Candidate candidate = std::move(made).value();
  if (request.side > 0) {
    if (progress) progress("resampling its positions", 0, 0);
    ENGRAM_TRY(resize_candidate(candidate, request.side, request.name_or_file, folder));
  }
  ENGRAM_TRY(go_on(request));
  candidate.card.name = name;
  if (!request.licence.empty()) candidate.card.licence = request.licence;
  ENGRAM_ASSIGN(candidate.card.sha256, sha256_of_file(candidate.path));
  if (Status measured = measure(candidate, request, progress); !measured.ok()) {
    return in_users_words(measured, candidate.path, request.name_or_file);
  }
  ENGRAM_TRY(go_on(request));
  if (progress) progress("storing " + name, 0, 0);
  ENGRAM_TRY(store.add(candidate.path, candidate.card, request.replace));
  return candidate.card;
}

}  // namespace engram
