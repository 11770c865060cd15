// Light, lens and sensor: what a webcam adds to what is there.
#include <algorithm>

#include "platform/stage_canvas.h"

namespace engram::stage {
namespace {

// Strength, colour and direction of the light, and the lens's darker corners.
void light(Canvas& canvas, Chance& chance) {
  const float gain = chance.between(0.65f, 1.2f);
  const Colour cast{gain * chance.between(0.9f, 1.1f), gain * chance.between(0.95f, 1.05f),
                    gain * chance.between(0.88f, 1.12f)};
  const float from_x = chance.between(-0.25f, 0.25f), from_y = chance.between(-0.2f, 0.2f);
  const float corners = chance.between(0.05f, 0.3f);
  const float lift = chance.between(0.0f, 14.0f);  // stray light: black is never quite black
  for (int y = 0; y < canvas.height; ++y) {
    for (int x = 0; x < canvas.width; ++x) {
      const float u = 2.0f * static_cast<float>(x) / static_cast<float>(canvas.width) - 1.0f;
      const float v = 2.0f * static_cast<float>(y) / static_cast<float>(canvas.height) - 1.0f;
      const float here =
          (1.0f + from_x * u + from_y * v) * (1.0f - 0.5f * corners * (u * u + v * v));
      Colour& pixel = canvas.at(x, y);
      pixel = {pixel.red * cast.red * here + lift, pixel.green * cast.green * here + lift,
               pixel.blue * cast.blue * here + lift};
    }
  }
}

// (1 2 1) / 4 along the rows, then along the columns.
void blur_once(Canvas& canvas) {
  const auto along = [](Colour* first, int count, std::ptrdiff_t step) {
    Colour before = first[0];
    for (int i = 0; i < count; ++i) {
      Colour& here = first[i * step];
      const Colour after = first[std::min(i + 1, count - 1) * step];
      const Colour old = here;
      here = {0.25f * (before.red + after.red) + 0.5f * old.red,
              0.25f * (before.green + after.green) + 0.5f * old.green,
              0.25f * (before.blue + after.blue) + 0.5f * old.blue};
      before = old;
    }
  };
  for (int y = 0; y < canvas.height; ++y) along(&canvas.at(0, y), canvas.width, 1);
  for (int x = 0; x < canvas.width; ++x) along(&canvas.at(x, 0), canvas.height, canvas.width);
}

std::uint8_t to_byte(float value) {
  return static_cast<std::uint8_t>(std::clamp(value + 0.5f, 0.0f, 255.0f));
}

}  // namespace

Image photograph(Canvas canvas, Chance& chance) {
  light(canvas, chance);
  const int blurs = chance.below(4);
  for (int i = 0; i < blurs; ++i) blur_once(canvas);

  const float noise = chance.between(1.0f, 7.0f);
  const std::uint64_t noise_seed = chance.bits();
  Image image{canvas.width, canvas.height, {}};
  image.rgb.resize(3 * canvas.pixels.size());
  for (std::size_t i = 0; i < canvas.pixels.size(); ++i) {
    const std::uint64_t bits = mixed(noise_seed ^ i);
    const auto grain = [&](int part) {  // two numbers of 10 bits: a triangle about 0, +-noise
      const auto low = static_cast<float>(bits >> (20 * part) & 1023);
      const auto high = static_cast<float>(bits >> (20 * part + 10) & 1023);
      return noise * (low - high) * (1.0f / 1023.0f);
    };
    const Colour& pixel = canvas.pixels[i];
    image.rgb[3 * i] = to_byte(pixel.red + grain(0));
    image.rgb[3 * i + 1] = to_byte(pixel.green + grain(1));
    image.rgb[3 * i + 2] = to_byte(pixel.blue + grain(2));
  }
  return image;
}

}  // namespace engram::stage
