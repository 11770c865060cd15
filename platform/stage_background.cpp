// Backgrounds: two surfaces, a wall and what the object stands on, each of some material.
#include <cmath>

#include "platform/stage_canvas.h"

namespace engram::stage {
namespace {

enum class Material { paint, stripes, plaster, wood, cloth, tiles, carpet, count };

struct Surface {
  Material material;
  Colour dark, light;
  float size;              // of its pattern: repeats per frame height
  float along_x, along_y;  // its direction
  std::uint64_t seed;
};

Colour muted_colour(Chance& chance) {
  const float grey = chance.between(35.0f, 215.0f);
  return {clamp_unit((grey + chance.between(-30.0f, 30.0f)) / 255.0f) * 255.0f,
          clamp_unit((grey + chance.between(-22.0f, 22.0f)) / 255.0f) * 255.0f,
          clamp_unit((grey + chance.between(-30.0f, 30.0f)) / 255.0f) * 255.0f};
}

Surface random_surface(Chance& chance) {
  Surface surface;
  surface.material = static_cast<Material>(chance.below(static_cast<int>(Material::count)));
  surface.dark = muted_colour(chance);
  const float contrast = chance.between(12.0f, 60.0f);
  surface.light = {surface.dark.red + contrast, surface.dark.green + contrast,
                   surface.dark.blue + contrast * chance.between(0.6f, 1.1f)};
  if (surface.material == Material::wood) {  // browns, from oak to pine
    const float depth = chance.between(0.5f, 1.0f);
    surface.dark = {150.0f * depth, 100.0f * depth, 60.0f * depth};
    surface.light = {205.0f * depth, 155.0f * depth, 105.0f * depth};
  }
  surface.size = chance.between(3.0f, 12.0f);
  const float tangent = chance.between(-1.0f, 1.0f);  // of half the angle: any direction to +-90
  const float norm = 1.0f + tangent * tangent;
  surface.along_x = (1.0f - tangent * tangent) / norm;
  surface.along_y = 2.0f * tangent / norm;
  surface.seed = chance.bits();
  return surface;
}

// Where between dark (0) and light (1) the surface is at (u, v), in frame heights.
float shade(const Surface& s, float u, float v) {
  const float a = (u * s.along_x + v * s.along_y) * s.size;  // along the pattern and across it
  const float b = (v * s.along_x - u * s.along_y) * s.size;
  switch (s.material) {
    case Material::paint:
      return clamp_unit(0.5f + 0.08f * a);
    case Material::stripes:
      return wave(a);
    case Material::plaster:
      return rough(a, b, s.seed);
    case Material::wood: {  // rings cut lengthwise, and planks
      const float bend = 0.6f * bumps(0.4f * a, 2.0f * b, s.seed);
      const float grain = 0.35f * bumps(2.0f * a, 30.0f * b, s.seed + 9);
      const float plank = fraction(0.35f * b) < 0.02f ? 0.0f : 1.0f;
      return plank * (0.65f * wave(0.9f * b + bend) + grain);
    }
    case Material::cloth: {  // threads over a wide check
      const float threads = wave(7.0f * a) * wave(7.0f * b + 0.5f);
      const float check = 0.5f * (wave(0.5f * a) > 0.5f) + 0.5f * (wave(0.5f * b) > 0.5f);
      return 0.35f * threads + 0.65f * check;
    }
    case Material::tiles: {
      const float x = fraction(0.5f * a), y = fraction(0.5f * b);
      if (x < 0.04f || y < 0.04f) return 0.0f;
      const auto tile = static_cast<std::uint64_t>(
          static_cast<std::uint32_t>(floor_of(0.5f * a) * 7919 + floor_of(0.5f * b)));
      return 0.6f + 0.4f * unit_of(mixed(tile ^ s.seed));
    }
    case Material::carpet:
      return 0.5f * rough(a, b, s.seed) + 0.5f * bumps(14.0f * a, 14.0f * b, s.seed + 5);
    case Material::count:
      break;
  }
  return 0.5f;
}

}  // namespace

// Painted at half the size and enlarged: the background is out of focus, and four times cheaper.
Canvas paint_background(int width, int height, Chance& chance) {
  const Surface wall = random_surface(chance);
  const Surface ground = random_surface(chance);
  const float horizon = chance.happens(0.4f) ? -9.0f : chance.between(0.25f, 0.7f);
  const float slope = chance.between(-0.08f, 0.08f);

  constexpr float kEdge = 120.0f;  // the edge between them is 1/120 of the frame's height wide
  Canvas half(width / 2 + 2, height / 2 + 2);
  const float unit = 2.0f / static_cast<float>(height);
  for (int y = 0; y < half.height; ++y) {
    for (int x = 0; x < half.width; ++x) {
      const float u = static_cast<float>(x) * unit, v = static_cast<float>(y) * unit;
      const float below = clamp_unit((v - horizon - slope * u) * kEdge);
      const auto colour = [&](const Surface& s) { return mix(s.dark, s.light, shade(s, u, v)); };
      half.at(x, y) = below == 0.0f   ? colour(wall)
                      : below == 1.0f ? colour(ground)
                                      : mix(colour(wall), colour(ground), below);
    }
  }

  Canvas canvas(width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const float tx = 0.5f * static_cast<float>(x % 2), ty = 0.5f * static_cast<float>(y % 2);
      const Colour above = mix(half.at(x / 2, y / 2), half.at(x / 2 + 1, y / 2), tx);
      const Colour below = mix(half.at(x / 2, y / 2 + 1), half.at(x / 2 + 1, y / 2 + 1), tx);
      canvas.at(x, y) = mix(above, below, ty);
    }
  }
  return canvas;
}

}  // namespace engram::stage
