// Where models are added in tests: a home, sixteen pictures, a place for ONNX files, and one to put there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/file.h"
#include "tests/support/archive_files.h"
#include "tests/support/catch.h"
#include "tests/support/picture_files.h"
#include "tests/support/temp_directory.h"
#include "tools/convert/add_model.h"
#include "tools/convert/onnx_writer.h"

namespace engram::test {

class Workshop {
 public:
  Workshop() {
    REQUIRE(make_directories(folder_ / "pictures").ok());
    for (int i = 0; i < 16; ++i) {
      REQUIRE(write_png(folder_ / ("pictures/" + std::to_string(i) + ".png"),
                        gradient_picture(40 + i, 30 + 2 * i))
                  .ok());
    }
  }

  AddModelRequest request(const std::string& name_or_file) const {
    AddModelRequest request;
    request.name_or_file = name_or_file;
    request.home = folder_ / "home";
    request.pictures_dir = folder_ / "pictures";
    request.threads = 1;
    return request;
  }
  std::string file(const std::string& name, const std::string& bytes) const {
    REQUIRE(replace_file(folder_ / name, bytes_of(bytes)).ok());
    return folder_ / name;
  }
  std::string path(const std::string& name) const { return folder_ / name; }
  ModelStore store() const { return ModelStore(folder_ / "home"); }

 private:
  TempDirectory folder_;
};

// map (N,3,4,4), tokens (N,16,3) and means (N,3) of a picture of 16 pixels.
inline std::string encoder(std::int64_t batch = OnnxWriter::kBatch, std::int64_t side = 16) {
  OnnxWriter net("encoder");
  const std::int64_t shape[] = {0, 3, -1};
  net.input("image", {batch, 3, side, side});
  net.whole_numbers("shape", {3}, shape);
  net.node("AveragePool", {"image"}, {"map"},
           {{"kernel_shape", std::vector<std::int64_t>{4, 4}},
            {"strides", std::vector<std::int64_t>{4, 4}}});
  net.node("Reshape", {"map", "shape"}, {"flat"});
  net.node("Transpose", {"flat"}, {"tokens"}, {{"perm", std::vector<std::int64_t>{0, 2, 1}}});
  net.node("GlobalAveragePool", {"map"}, {"pooled"});
  net.node("Flatten", {"pooled"}, {"means"});
  net.output("tokens", {batch, -1, 3});
  net.output("means", {batch, 3});
  return net.finish();
}

}  // namespace engram::test
