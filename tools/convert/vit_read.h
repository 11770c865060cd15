// A plain Vision Transformer (ViT, DeiT, DINO, DINOv2, the image tower of CLIP) read from ONNX into
// weights of our own, whatever exporter wrote it.
//
//     read_onnx_graph > simplify (vit_graph.h) > join_pieces (vit_steps.h) > match (vit_match.h)
//
// The result is a claim about the graph; vit_check.h proves it on pictures.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "engine/vit_model.h"
#include "platform/status.h"

namespace engram {

// `output`: the tensor that holds the features, as on the card; `image`: the side of the picture.
// not_supported: it is no plain Vision Transformer, with what was found instead; such a model still
// works frozen. bad_data: the file is damaged. Messages begin with `name`.
Result<VitModel> read_vit(std::span<const std::byte> onnx, const std::string& name,
                          const std::string& output, int image);

}  // namespace engram
