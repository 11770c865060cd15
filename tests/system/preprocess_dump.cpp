// preprocess_dump RESIZE CROP shorter|squash bicubic|bilinear: reads names of picture files, one a
// line, and writes for each the tensor that a backbone would get (3 planes of floats, bytes 0..255,
// RGB), or the picture as decoded when RESIZE is 0 (width and height as int32, then bytes).
// preprocess_dump SHORTER 0 bounded -: the picture as training keeps it, likewise.
// preprocess_dump EPOCH CROP random -: the box (left, top, width, height, mirrored as int32) and the
// tensor of line i's picture as sample i of that epoch. For preprocess_test.py, which compares with
// Pillow.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "engine/augment.h"
#include "engine/bounded_picture.h"
#include "kernels/preprocess.h"
#include "platform/image.h"

namespace {

void write_picture(const engram::Image& image) {
  const int size[2] = {image.width, image.height};
  std::fwrite(size, sizeof(int), 2, stdout);
  std::fwrite(image.rgb.data(), 1, image.rgb.size(), stdout);
}

engram::Status write_tensor(const engram::Image& image, const engram::PreprocessSpec& how,
                            const engram::RandomCrop* crop) {
  const int pixels = how.crop * how.crop;
  std::vector<float> values(3 * static_cast<std::size_t>(pixels));
  const engram::MatrixView<float> tensor{values.data(), 3, pixels, pixels};
  if (crop != nullptr) {
    const int box[5] = {crop->left, crop->top, crop->width, crop->height, crop->mirrored};
    std::fwrite(box, sizeof(int), 5, stdout);
    ENGRAM_TRY(engram::augment(image, *crop, how, tensor));
  } else {
    ENGRAM_TRY(engram::cpu::preprocess(engram::Stream{}, {image.view()}, how, tensor));
  }
  std::fwrite(values.data(), sizeof(float), values.size(), stdout);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 64;
  const int first = std::atoi(argv[1]);
  const std::string mode = argv[3];
  const engram::PreprocessSpec how{
      .resize = first,
      .crop = std::atoi(argv[2]),
      .mode = mode == "squash" ? engram::Resize::squash : engram::Resize::shorter_side,
      .filter =
          std::string(argv[4]) == "bilinear" ? engram::Filter::bilinear : engram::Filter::bicubic};
  int sample = 0;
  for (std::string path; std::getline(std::cin, path); ++sample) {
    const auto image = engram::read_image(path);
    if (!image.ok()) {
      std::fprintf(stderr, "%s\n", image.status().what());
      return 1;
    }
    engram::Status status;
    if (mode == "bounded") {
      write_picture(engram::bounded_picture(image.value(), first));
    } else if (mode == "random") {
      const engram::RandomCrop crop =
          engram::random_crop(image->width, image->height, {1, first, sample});
      status = write_tensor(image.value(), how, &crop);
    } else if (first == 0) {
      write_picture(image.value());
    } else {
      status = write_tensor(image.value(), how, nullptr);
    }
    if (!status.ok()) {
      std::fprintf(stderr, "%s\n", status.what());
      return 1;
    }
  }
  return 0;
}
