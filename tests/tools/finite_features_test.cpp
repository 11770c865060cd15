#include "tools/features/finite_features.h"

#include <cmath>
#include <memory>

#include "platform/backbone.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"

using namespace engram;
using namespace engram::test;

namespace {

// Two features of a picture, both its first value; NaN where that is 0.
class PickyBackbone final : public Backbone {
 public:
  explicit PickyBackbone(int input_values) : input_values_(input_values) {}
  int input_values() const override { return input_values_; }
  int features() const override { return 2; }
  int max_batch() const override { return 4; }
  Status run(MatrixView<const float> inputs, MatrixView<float> features) override {
    for (int row = 0; row < inputs.rows; ++row) {
      const float value = inputs.row(row)[0];
      features.row(row)[0] = features.row(row)[1] = value == 0 ? std::nanf("") : value;
    }
    return {};
  }

 private:
  int input_values_;
};

FeatureExtractor picky_extractor() {
  ModelCard card;
  card.name = "picky";
  card.features = 2;
  card.preprocess.resize = card.preprocess.crop = 8;
  card.preprocess.mean = {0, 0, 0};
  card.preprocess.std = {1, 1, 1};
  auto extractor = FeatureExtractor::create(card, std::make_unique<PickyBackbone>(3 * 8 * 8));
  REQUIRE(extractor.ok());
  return std::move(extractor).value();
}

Image grey(std::uint8_t value) {
  return {8, 8, std::vector<std::uint8_t>(8 * 8 * 3, value)};
}

}  // namespace

TEST_CASE("pictures without finite features are left out of a batch", "[tools][finite_features]") {
  FeatureExtractor extractor = picky_extractor();
  const std::vector<std::string> paths{"other", "0", "1", "2", "3", "4"};
  const std::vector<std::size_t> indices{1, 2, 3, 4, 5};
  const std::vector<Image> pictures{grey(9), grey(0), grey(7), grey(8), grey(0)};
  std::vector<std::vector<std::size_t>> taken;
  std::vector<SkippedPicture> skipped;
  const auto take = [&](std::span<const std::size_t> which, std::span<const Image> shown) {
    for (const Image& picture : shown) {
      if (picture.rgb[0] == 0) return Status(Code::bad_data, "not finite");
    }
    taken.emplace_back(which.begin(), which.end());
    return Status();
  };
  REQUIRE(take_finite(extractor, paths, indices, pictures, skipped, take).ok());
  CHECK(taken == std::vector<std::vector<std::size_t>>{{1}, {3, 4}});
  REQUIRE(skipped.size() == 2);
  CHECK(skipped[0].path == "1");
  CHECK(says(skipped[0].why, "1: the backbone makes features of it that are not finite"));
  CHECK(skipped[1].path == "4");
}

TEST_CASE("a batch that fails for another reason fails", "[tools][finite_features]") {
  FeatureExtractor extractor = picky_extractor();
  std::vector<SkippedPicture> skipped;
  for (const Code code : {Code::bad_data, Code::io_failure}) {
    int calls = 0;
    const auto take = [&](std::span<const std::size_t>, std::span<const Image>) {
      ++calls;
      return Status(code, "for another reason");
    };
    const std::vector<Image> pictures{grey(1)};
    const std::vector<std::size_t> indices{0};
    CHECK(take_finite(extractor, {"a"}, indices, pictures, skipped, take).code() == code);
    CHECK(calls == 1);
    CHECK(skipped.empty());
  }
}
