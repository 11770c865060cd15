// The two ways in which checkpoints of EfficientNet-Lite name their weights.
//
//                efficientnet_lite_pytorch     timm (tf_efficientnet_lite0 to 4)
//     stem       _conv_stem, _bn0              conv_stem, bn1
//     block      _blocks.7.                    blocks.3.1.: stage, and block of the stage
//       expand   _expand_conv, _bn0            conv_pw, bn1      none in the first stage, where
//       depth    _depthwise_conv, _bn1         conv_dw, bn2      timm says conv_dw, bn1
//       project  _project_conv, _bn2           conv_pwl, bn3     and conv_pw, bn2
//     head       _conv_head, _bn1, _fc         conv_head, bn2, classifier
#pragma once

#include <map>
#include <span>
#include <string>

#include "platform/status.h"
#include "tools/convert/checkpoint.h"

namespace engram {

// Our name of a module, which is the first column's: its name in the checkpoint.
using LiteNames = std::map<std::string, std::string>;

// `repeats`: the blocks of each stage. Empty: the checkpoint has our names. bad_data: it has neither,
// and the message says where such files come from.
Result<LiteNames> lite_names(const Checkpoint& checkpoint, std::span<const int> repeats,
                             const std::string& checkpoint_name);

// How a person gets the weights of a built-in EfficientNet-Lite from timm, as `file`.
std::string timm_recipe(const std::string& builtin_name, const std::string& file);

}  // namespace engram
