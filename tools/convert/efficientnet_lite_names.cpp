#include "tools/convert/efficientnet_lite_names.h"

#include <algorithm>

#include <fmt/format.h>

namespace engram {

namespace {

LiteNames timm_names(std::span<const int> repeats) {
  LiteNames names{{"_conv_stem", "conv_stem"},
                  {"_bn0", "bn1"},
                  {"_conv_head", "conv_head"},
                  {"_bn1", "bn2"},
                  {"_fc", "classifier"}};
  int index = 0;
  for (std::size_t stage = 0; stage < repeats.size(); ++stage) {
    for (int r = 0; r < repeats[stage]; ++r) {
      const std::string ours = fmt::format("_blocks.{}.", index++);
      const std::string theirs = fmt::format("blocks.{}.{}.", stage, r);
      const bool expands = stage > 0;
      if (expands) {
        names[ours + "_expand_conv"] = theirs + "conv_pw";
        names[ours + "_bn0"] = theirs + "bn1";
      }
      names[ours + "_depthwise_conv"] = theirs + "conv_dw";
      names[ours + "_bn1"] = theirs + (expands ? "bn2" : "bn1");
      names[ours + "_project_conv"] = theirs + (expands ? "conv_pwl" : "conv_pw");
      names[ours + "_bn2"] = theirs + (expands ? "bn3" : "bn2");
    }
  }
  return names;
}

}  // namespace

Result<LiteNames> lite_names(const Checkpoint& checkpoint, std::span<const int> repeats,
                             const std::string& checkpoint_name) {
  if (checkpoint.count("_conv_stem.weight") != 0) return LiteNames();
  if (checkpoint.count("conv_stem.weight") != 0) return timm_names(repeats);
  return Status(
      Code::bad_data,
      fmt::format("{}: it has neither the weight _conv_stem.weight, as checkpoints of "
                  "efficientnet_lite_pytorch have, nor conv_stem.weight, as timm's "
                  "tf_efficientnet_lite0 to 4 saved with torch.save(model.state_dict(), FILE) "
                  "have: it is no checkpoint of an EfficientNet-Lite that can be read here",
                  checkpoint_name));
}

std::string timm_recipe(const std::string& builtin_name, const std::string& file) {
  std::string name = "tf_" + builtin_name;
  std::replace(name.begin(), name.end(), '-', '_');
  return fmt::format("torch.save(timm.create_model('{}', pretrained=True).state_dict(), '{}')",
                     name, file);
}

}  // namespace engram
