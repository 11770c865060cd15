// A source of pictures. Others may supply one, so it is an interface.
//
//   stage://?seed=1&objects=12&width=640&height=480    the virtual camera of the demo
//   (camera_stage.h)
//
// A URI that is not understood is refused with the list of those that are.
#pragma once

#include <memory>
#include <string>

#include "platform/image.h"
#include "platform/status.h"

namespace engram {

class Camera {
 public:
  virtual ~Camera() = default;
  // The next picture. not_found: the source has ended.
  virtual Result<Image> next() = 0;
};

Result<std::unique_ptr<Camera>> open_camera(const std::string& uri);

}  // namespace engram
