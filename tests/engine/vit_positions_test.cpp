#include "engine/vit_positions.h"

#include <cmath>

#include "tests/support/catch.h"

namespace engram {
namespace {

// A ViT whose positions are `value(channel, y, x)`; nothing else of it is looked at.
template <class Value>
VitModel grid_vit(int side, Value value) {
  VitModel model;
  model.shape = {.image = 14 * side, .patch = 14, .width = 3, .heads = 1, .prefix = 2};
  model.positions = {7, 8, 9, 17, 18, 19};
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) {
      for (int d = 0; d < 3; ++d) model.positions.push_back(value(d, y, x));
    }
  }
  return model;
}

float position(const VitModel& model, int d, int y, int x) {
  return model.positions[std::size_t((model.shape.prefix + y * model.shape.side() + x) * 3 + d)];
}

}  // namespace

TEST_CASE("vit_positions: a grid that rises evenly still does, inside", "[engine][vit_positions]") {
  const int after = GENERATE(5, 8, 16, 23);
  const VitModel model = grid_vit(16, [](int d, int y, int x) {
    return float(d == 0 ? y : d == 1 ? x : 1);
  });
  Result<VitModel> resized = resize_vit(model, 14 * after);
  REQUIRE(resized.ok());
  REQUIRE(resized->shape.image == 14 * after);
  REQUIRE(resized->positions.size() == std::size_t(3 * (2 + after * after)));
  for (int i = 0; i < 6; ++i)
    CHECK(resized->positions[std::size_t(i)] == model.positions[std::size_t(i)]);
  const double scale = 16.0 / after;
  for (int y = 0; y < after; ++y) {
    for (int x = 0; x < after; ++x) {
      CHECK(position(*resized, 2, y, x) == Approx(1));
      const double at_y = (y + 0.5) * scale - 0.5, at_x = (x + 0.5) * scale - 0.5;
      const double reach = 2 * std::max(scale, 1.0);  // the filter's, which an edge cuts
      if (std::min(at_y, at_x) < reach || std::max(at_y, at_x) > 15 - reach) continue;
      CHECK(position(*resized, 0, y, x) == Approx(at_y).margin(1e-3));
      CHECK(position(*resized, 1, y, x) == Approx(at_x).margin(1e-3));
    }
  }
}

TEST_CASE("vit_positions: the same size changes nothing", "[engine][vit_positions]") {
  const VitModel model = grid_vit(4, [](int d, int y, int x) { return float(d + 3 * y * x); });
  REQUIRE(resize_vit(model, 56)->positions == model.positions);
}

TEST_CASE("vit_positions: sizes that do not fit are refused", "[engine][vit_positions]") {
  const int image = GENERATE(-14, 0, 13, 55, 14 * 129);
  const VitModel model = grid_vit(4, [](int, int, int) { return 0.0f; });
  Result<VitModel> resized = resize_vit(model, image);
  REQUIRE(resized.status().code() == Code::invalid_argument);
  CHECK(std::string(resized.status().what()).find("multiples of its patch, 14 to 1792") !=
        std::string::npos);
}

}  // namespace engram
