// preprocess_dump RESIZE CROP shorter|squash: reads names of picture files, one a line, and writes
// for each the tensor that a backbone would get (3 planes of floats, bytes 0..255, RGB), or the
// picture as decoded when RESIZE is 0 (width and height as int32, then bytes). For
// preprocess_test.py, which compares with Pillow.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "kernels/preprocess.h"
#include "platform/image.h"

int main(int argc, char** argv) {
  if (argc != 4) return 64;
  engram::PreprocessSpec how;
  how.resize = std::atoi(argv[1]);
  how.crop = std::atoi(argv[2]);
  how.mode =
      std::string(argv[3]) == "squash" ? engram::Resize::squash : engram::Resize::shorter_side;
  for (std::string path; std::getline(std::cin, path);) {
    const auto image = engram::read_image(path);
    if (!image.ok()) {
      std::fprintf(stderr, "%s\n", image.status().what());
      return 1;
    }
    if (how.resize == 0) {
      const int size[2] = {image->width, image->height};
      std::fwrite(size, sizeof(int), 2, stdout);
      std::fwrite(image->rgb.data(), 1, image->rgb.size(), stdout);
      continue;
    }
    const int pixels = how.crop * how.crop;
    std::vector<float> tensor(3 * static_cast<std::size_t>(pixels));
    const engram::Status status = engram::cpu::preprocess(engram::Stream{}, {image->view()}, how,
                                                          {tensor.data(), 3, pixels, pixels});
    if (!status.ok()) {
      std::fprintf(stderr, "%s\n", status.what());
      return 1;
    }
    std::fwrite(tensor.data(), sizeof(float), tensor.size(), stdout);
  }
  return 0;
}
