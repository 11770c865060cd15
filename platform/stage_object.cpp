// The object: its cut-out photograph, enlarged or shrunk, turned, set before the background.
#include <algorithm>

#include "platform/stage_canvas.h"

namespace engram::stage {
namespace {

// Colours multiplied by alpha: only so may they be averaged, or the edges get fringes.
struct Cutout {
  int width, height;
  std::vector<Colour> colour;
  std::vector<float> alpha;
};

// Averages squares of `factor` pixels: a picture much larger than its place would flicker.
Cutout reduced(const ImageWithAlpha& picture, int factor) {
  Cutout out{(picture.width + factor - 1) / factor, (picture.height + factor - 1) / factor, {}, {}};
  out.colour.resize(std::size_t(out.width) * out.height, Colour{0, 0, 0});
  out.alpha.resize(out.colour.size(), 0.0f);
  const float share = 1.0f / static_cast<float>(factor * factor);
  for (int y = 0; y < picture.height; ++y) {
    for (int x = 0; x < picture.width; ++x) {
      const std::uint8_t* from = &picture.rgba[4 * (std::size_t(y) * picture.width + x)];
      const std::size_t to = std::size_t(y / factor) * out.width + x / factor;
      const float alpha = share * static_cast<float>(from[3]) * (1.0f / 255.0f);
      out.alpha[to] += alpha;
      out.colour[to].red += alpha * static_cast<float>(from[0]);
      out.colour[to].green += alpha * static_cast<float>(from[1]);
      out.colour[to].blue += alpha * static_cast<float>(from[2]);
    }
  }
  return out;
}

struct Sample {
  Colour colour;
  float alpha;
};

// Bilinear; transparent outside.
Sample sample(const Cutout& cutout, float x, float y) {
  Sample sum{{0, 0, 0}, 0};
  if (x < -1.0f || y < -1.0f || x > static_cast<float>(cutout.width) ||
      y > static_cast<float>(cutout.height)) {
    return sum;
  }
  const int left = floor_of(x), top = floor_of(y);
  for (int dy = 0; dy < 2; ++dy) {
    for (int dx = 0; dx < 2; ++dx) {
      const int column = left + dx, row = top + dy;
      if (column < 0 || row < 0 || column >= cutout.width || row >= cutout.height) continue;
      const float tx = x - static_cast<float>(left), ty = y - static_cast<float>(top);
      const float weight = (dx == 1 ? tx : 1.0f - tx) * (dy == 1 ? ty : 1.0f - ty);
      const std::size_t i = std::size_t(row) * cutout.width + column;
      sum.alpha += weight * cutout.alpha[i];
      sum.colour.red += weight * cutout.colour[i].red;
      sum.colour.green += weight * cutout.colour[i].green;
      sum.colour.blue += weight * cutout.colour[i].blue;
    }
  }
  return sum;
}

// Where on the cut-out a pixel of the frame looks: turned and scaled about the object's middle.
struct Placement {
  float middle_x, middle_y;  // in the frame
  float step;                // pixels of the cut-out per pixel of the frame
  float cosine, sine;

  Sample look(const Cutout& cutout, float x, float y) const {
    const float dx = (x - middle_x) * step, dy = (y - middle_y) * step;
    return sample(cutout, dx * cosine + dy * sine + 0.5f * static_cast<float>(cutout.width) - 0.5f,
                  dy * cosine - dx * sine + 0.5f * static_cast<float>(cutout.height) - 0.5f);
  }
};

// The object alone, in the part of the frame that it and its shadow can touch.
struct Layer {
  int left, top, width, height;
  std::vector<Sample> samples;

  const Sample& at(int x, int y) const { return samples[std::size_t(y) * width + x]; }
  float alpha(int x, int y) const {
    return x < 0 || y < 0 || x >= width || y >= height ? 0.0f : at(x, y).alpha;
  }
};

Layer draw(const Cutout& cutout, const Placement& placement, int reach, const Canvas& canvas) {
  const int middle_x = static_cast<int>(placement.middle_x);
  const int middle_y = static_cast<int>(placement.middle_y);
  Layer layer;
  layer.left = std::max(0, middle_x - reach);
  layer.top = std::max(0, middle_y - reach);
  layer.width = std::min(canvas.width, middle_x + reach) - layer.left;
  layer.height = std::min(canvas.height, middle_y + reach) - layer.top;
  layer.samples.reserve(std::size_t(layer.width) * layer.height);
  for (int y = 0; y < layer.height; ++y) {
    for (int x = 0; x < layer.width; ++x) {
      layer.samples.push_back(placement.look(cutout, static_cast<float>(layer.left + x),
                                             static_cast<float>(layer.top + y)));
    }
  }
  return layer;
}

struct Shadow {
  int x, y;      // how far it falls, pixels
  int softness;  // likewise
  float depth;

  // How much light is left: nine looks towards the light, around where the object would block it.
  float light_at(const Layer& layer, int at_x, int at_y) const {
    float blocked = 0.0f;
    for (int k = 0; k < 9; ++k) {
      blocked += layer.alpha(at_x - x + softness * (k % 3 - 1), at_y - y + softness * (k / 3 - 1));
    }
    return 1.0f - depth * blocked * (1.0f / 9.0f);
  }
};

constexpr float kMaxTangent = 0.2217f;  // of 12.5 degrees, half the largest turn

}  // namespace

void place_object(const ImageWithAlpha& picture, Chance& chance, Canvas& canvas) {
  const float frame = static_cast<float>(std::min(canvas.width, canvas.height));
  const float size = frame * chance.between(0.45f, 0.8f);  // of the longer side
  const float longer = static_cast<float>(std::max(picture.width, picture.height));
  const int factor = std::max(1, static_cast<int>(longer / size));
  const Cutout cutout = reduced(picture, factor);

  const float room = 0.5f * (0.92f * frame - size) + 0.03f * frame;
  const float tangent = chance.between(-kMaxTangent, kMaxTangent);
  const float norm = 1.0f + tangent * tangent;
  const Placement placement{
      .middle_x = 0.5f * static_cast<float>(canvas.width) + chance.between(-room, room),
      .middle_y = 0.5f * static_cast<float>(canvas.height) + chance.between(-room, room),
      .step = longer / size / static_cast<float>(factor),
      .cosine = (1.0f - tangent * tangent) / norm,
      .sine = 2.0f * tangent / norm};
  const Shadow shadow{.x = static_cast<int>(frame * chance.between(-0.03f, 0.03f)),
                      .y = static_cast<int>(frame * chance.between(0.005f, 0.03f)),
                      .softness = static_cast<int>(0.012f * frame),
                      .depth = chance.between(0.15f, 0.45f)};

  const int reach = static_cast<int>(0.71f * size + 0.05f * frame);  // half a diagonal, and shadow
  const Layer layer = draw(cutout, placement, reach, canvas);
  for (int y = 0; y < layer.height; ++y) {
    for (int x = 0; x < layer.width; ++x) {
      const Sample& object = layer.at(x, y);
      const float behind = shadow.light_at(layer, x, y) * (1.0f - object.alpha);
      Colour& pixel = canvas.at(layer.left + x, layer.top + y);
      pixel = {pixel.red * behind + object.colour.red, pixel.green * behind + object.colour.green,
               pixel.blue * behind + object.colour.blue};
    }
  }
}

}  // namespace engram::stage
