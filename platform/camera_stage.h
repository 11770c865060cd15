// The stage: a virtual camera that looks at real objects, for demonstrations and tests without a
// camera.
//
// The objects are photographs cut out on transparent ground, of Debian's package
// tuxpaint-stamps-default. A view places one before a changing background (desk, cloth, wood, wall,
// ...), somewhere in the middle of the frame, larger or smaller, turned by up to 25 degrees, under a
// light of some strength, colour and direction, and takes a picture of it with the blur and the
// noise of a webcam.
//
// A view is a function of (seed, object, view index) alone, the same to the bit on every machine:
// only + - * / and square roots of IEEE floats are used, compiled without contraction.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "platform/camera.h"
#include "platform/image.h"
#include "platform/status.h"

namespace engram {

struct StageOptions {
  std::uint64_t seed = 1;
  int objects = 12;
  int width = 640;  // pixels, 64..4096
  int height = 480;
  // Where the cut-outs are. Empty: the environment's ENGRAM_STAMPS, else the package's folder. The
  // stage's own list comes first (stage_objects()); a folder that has none of those offers all its
  // PNG pictures, sorted, each named after its file.
  std::string stamps;
};

class Stage {
 public:
  // not_found: the package is not installed; the message says how to get it. A picture that cannot
  // be read is skipped, and another one shown instead while there are others.
  static Result<Stage> open(const StageOptions& options);

  int objects() const { return static_cast<int>(cutouts_.size()); }
  const std::vector<std::string>& skipped() const { return skipped_; }         // a sentence each
  const std::string& name(int object) const { return cutouts_[object].name; }  // "rubber duck"
  Result<Image> view(int object, std::uint64_t view_index) const;

 private:
  struct Cutout {
    std::string name;
    ImageWithAlpha picture;
  };
  Stage() = default;
  StageOptions options_;
  std::vector<Cutout> cutouts_;
  std::vector<std::string> skipped_;
};

// The list of distinct everyday things that the stage shows, in order.
struct StageObject {
  const char* name;
  const char* file;  // below the folder of stamps
};
const std::vector<StageObject>& stage_objects();

// A camera on the stage: each object for `hold` frames, then the next, over and over; `frames` in
// all, or without end when 0.
struct StageShow {
  int hold = 30;
  std::uint64_t frames = 0;
};
std::unique_ptr<Camera> make_stage_camera(Stage stage, const StageShow& show);

}  // namespace engram
