// A model card: everything needed to use an ONNX backbone the way it was trained.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/preprocess.h"
#include "platform/status.h"

namespace engram {

struct ModelCard {
  std::string name;     // "efficientnet-lite0"
  std::string source;   // where it came from, for people
  std::string licence;  // SPDX identifier, or "unknown"
  std::string sha256;   // of model.onnx
  PreprocessSpec preprocess;
  std::string output;  // tensor that holds the features
  int features = 0;    // L
  // Measured once, from pictures, by `model add`; rounded to 2^(k/2) so that two machines whose
  // float features differ in the last bits write the same card.
  float feature_scale = 0;      // q = round(f * feature_scale)
  std::int32_t hidden_mul = 0;  // gain of activate for hidden_max 31, in 1/65536
  int calibration_pictures = 0;
  // False: it was fetched on this machine from where it may be had, and is not ours to hand on.
  bool redistributable = true;
  // Of a model that was adapted here, empty otherwise: the name and the sha256 of the model it was
  // made from, a space between, and how ("ssf, 20 epochs, 10 classes, 300 pictures, seed 1").
  std::string parent{};
  std::string adapted{};
};

// A model's name is a folder's name: 1 to 64 letters, digits, dots, dashes, underscores; no dot or
// dash in front.
bool is_model_name(const std::string& name);

// JSON with every field by name, the last three and the filter of `preprocess` (bicubic) only where
// they say something, so that cards of earlier versions stay as they are; parse refuses
// unknown fields, wrong types, values out of range, and texts over 64 KiB.
std::string to_json(const ModelCard& card);
Result<ModelCard> parse_card(const std::string& json);

}  // namespace engram
