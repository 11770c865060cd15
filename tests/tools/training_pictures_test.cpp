// Pictures of Phase 1: the same tensors whether they are kept or read again, in any batch.
#include "tools/adapt/training_pictures.h"

#include <filesystem>
#include <fstream>
#include <numeric>

#include "engine/augment.h"
#include "engine/bounded_picture.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"
#include "tests/support/temp_directory.h"

namespace engram {
namespace {

constexpr int kCrop = 12, kValues = 3 * kCrop * kCrop;
const PreprocessSpec kHow{
    .resize = 16, .crop = kCrop, .mean = {100, 110, 120}, .std = {50, 60, 70}};

Image noise(int width, int height, int seed) {
  Image picture{.width = width, .height = height, .rgb = {}};
  for (int i = 0; i < 3 * width * height; ++i) {
    picture.rgb.push_back(std::uint8_t((i * 37 + seed * 101 + i * i % 13 * seed) % 256));
  }
  return picture;
}

struct Folder {
  Folder() {
    for (int i = 0; i < 6; ++i) {
      const std::string path = directory.path() + "/" + std::to_string(i) + ".png";
      REQUIRE(write_png(path, noise(30 + 5 * i, 70 - 6 * i, i)).ok());
      items.push_back({path, i % 2 ? "b" : "a"});
    }
    console.configure(false, true);
  }
  TrainingPictures read(std::int64_t memory) {
    auto pictures = TrainingPictures::read(items, kHow, memory, console);
    INFO(pictures.status().what());
    REQUIRE(pictures.ok());
    return std::move(pictures).value();
  }
  test::TempDirectory directory;
  std::vector<LabelledPath> items;
  Console console;
};

std::vector<float> tensors_of(const TrainingPictures& pictures, std::vector<int> samples,
                              int epoch) {
  std::vector<float> values(samples.size() * kValues);
  const Status status =
      pictures.tensors(samples, epoch, 5, {values.data(), int(samples.size()), kValues, kValues});
  INFO(status.what());
  REQUIRE(status.ok());
  return values;
}

}  // namespace

TEST_CASE("training pictures: kept or read again, the tensors are the same",
          "[tools][training_pictures]") {
  Folder folder;
  const TrainingPictures kept = folder.read(1 << 30), some = folder.read(6000),
                         none = folder.read(0);
  REQUIRE((kept.kept() == 6 && none.kept() == 0 && some.kept() > 0 && some.kept() < 6));
  REQUIRE((kept.kept_bytes() > 6000 && some.kept_bytes() <= 6000 && none.kept_bytes() == 0));
  REQUIRE(kept.labels() == std::vector<int>{0, 1, 0, 1, 0, 1});
  REQUIRE(kept.classes() == std::vector<std::string>{"a", "b"});
  REQUIRE((kept.digest() == none.digest() && some.digest() == none.digest()));
  for (const int epoch : {-1, 0, 3}) {
    const std::vector<float> values = tensors_of(kept, {0, 1, 2, 3, 4, 5}, epoch);
    REQUIRE(tensors_of(some, {0, 1, 2, 3, 4, 5}, epoch) == values);
    REQUIRE(tensors_of(none, {0, 1, 2, 3, 4, 5}, epoch) == values);
    const std::vector<float> fourth(values.begin() + 4 * kValues, values.begin() + 5 * kValues);
    REQUIRE(tensors_of(none, {4}, epoch) == fourth);  // whatever else is in the batch
  }
  REQUIRE(tensors_of(kept, {2}, 0) != tensors_of(kept, {2}, 1));
}

TEST_CASE("training pictures: tensors are those of the picture", "[tools][training_pictures]") {
  Folder folder;
  const TrainingPictures pictures = folder.read(1 << 30);
  const Image picture = bounded_picture(noise(40, 58, 2), 24);
  std::vector<float> wanted(kValues);
  const MatrixView<float> tensor{wanted.data(), 3, kCrop * kCrop, kCrop * kCrop};
  REQUIRE(cpu::preprocess({}, {picture.view()}, kHow, tensor).ok());
  REQUIRE(tensors_of(pictures, {2}, -1) == wanted);
  const RandomCrop crop = random_crop(picture.width, picture.height, {5, 7, 2});
  REQUIRE(augment(picture, crop, kHow, tensor).ok());
  REQUIRE(tensors_of(pictures, {2}, 7) == wanted);
}

TEST_CASE("training pictures: what is broken is left out, what changes is told",
          "[tools][training_pictures]") {
  Folder folder;
  const std::string broken = folder.directory.path() + "/broken.jpg";
  std::ofstream(broken) << "no picture";
  folder.items.insert(folder.items.begin() + 1, {broken, "c"});
  const TrainingPictures pictures = folder.read(0);
  REQUIRE((pictures.count() == 6 && pictures.skipped().size() == 1));
  REQUIRE(pictures.skipped().front().path == broken);
  REQUIRE(pictures.classes() == std::vector<std::string>{"a", "b"});  // nothing of c could be read

  std::vector<float> values(kValues);
  const MatrixView<float> tensor{values.data(), 1, kValues, kValues};
  const int third = 2;
  REQUIRE(write_png(pictures.paths()[2], noise(9, 9, 1)).ok());
  REQUIRE(test::says(pictures.tensors({&third, 1}, 0, 5, tensor), "changed since training began"));
  std::filesystem::remove(pictures.paths()[2]);
  REQUIRE(pictures.tensors({&third, 1}, 0, 5, tensor).code() == Code::not_found);

  REQUIRE(write_png(pictures.paths()[4], noise(50, 46, 9)).ok());
  const std::uint64_t before = pictures.digest();
  folder.items.erase(folder.items.begin() + 1);
  REQUIRE(folder.read(0).digest() != before);
}

}  // namespace engram
