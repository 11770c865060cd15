// For backbone_test.py, which compares with another runtime.
//   feature_dump convert VARIANT PACKAGE OUT.onnx
//       EfficientNet-Lite0, 1 or 2 from its package
//   feature_dump run MODEL.onnx OUTPUT PRESET RESIZE CROP BATCH THREADS
//       reads names of picture files, one a line; writes the width, then a row of floats for each
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include "engine/feature_extractor.h"
#include "platform/file.h"
#include "tools/convert/efficientnet_lite.h"
#include "tools/convert/model_trial.h"
#include "tools/convert/package.h"

using namespace engram;

namespace {

Status convert(int variant, const std::string& package, const std::string& onnx) {
  ENGRAM_ASSIGN(const auto file,
                get_package_file(builtin_models().at(std::size_t(variant)), package, {}));
  ENGRAM_ASSIGN(const auto checkpoint, parse_checkpoint(file.bytes, file.name));
  ENGRAM_ASSIGN(const auto bytes, efficientnet_lite_onnx(variant, checkpoint, file.name));
  return replace_file(onnx, std::as_bytes(std::span(bytes)));
}

Status run(char** arguments) {
  StoredModel model;
  model.onnx = arguments[0];
  model.card.output = arguments[1];
  for (const PreprocessPreset& preset : preprocess_presets()) {
    if (std::strcmp(preset.name, arguments[2]) == 0) model.card.preprocess = preset.spec;
  }
  model.card.preprocess.resize = std::atoi(arguments[3]);
  model.card.preprocess.crop = std::atoi(arguments[4]);
  const int side = model.card.preprocess.crop;
  ENGRAM_ASSIGN(
      const auto report,
      try_model({.model = model.onnx, .output = model.card.output, .height = side, .width = side}));
  model.card.features = report.features;
  ENGRAM_ASSIGN(auto extractor, FeatureExtractor::open(model, {.threads = std::atoi(arguments[6]),
                                                               .batch = std::atoi(arguments[5])}));
  std::vector<Image> pictures;
  for (std::string path; std::getline(std::cin, path);) {
    ENGRAM_ASSIGN(auto picture, read_image(path));
    pictures.push_back(std::move(picture));
  }
  const int rows = static_cast<int>(pictures.size()), width = extractor.features();
  std::vector<float> features(pictures.size() * static_cast<std::size_t>(width));
  ENGRAM_TRY(extractor.extract(pictures, {features.data(), rows, width, width}));
  std::fwrite(&width, sizeof width, 1, stdout);
  std::fwrite(features.data(), sizeof(float), features.size(), stdout);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (const auto code = serve_model_trial(argc, argv)) return *code;
  Status done(Code::invalid_argument, "see the top of feature_dump.cpp");
  if (argc == 5 && std::strcmp(argv[1], "convert") == 0) {
    done = convert(std::atoi(argv[2]), argv[3], argv[4]);
  }
  if (argc == 9 && std::strcmp(argv[1], "run") == 0) done = run(argv + 2);
  if (!done.ok()) std::fprintf(stderr, "%s\n", done.what());
  return done.ok() ? 0 : 1;
}
