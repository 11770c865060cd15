#include "engine/vit_positions.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kernels/preprocess_axis.h"

namespace engram {
namespace {

constexpr int kMaxPatchesPerSide = 128;

// out[i] = sum over j of weight(i, j) in[j] along one side of a grid of vectors: `in` has `before`
// entries `step` floats apart, `out` has `after`; both repeat `lines` times, `in_line` and `out_line`
// floats apart. A vector has `width` floats.
struct Side {
  int before, after;
  std::size_t step;
  int lines;
  std::size_t in_line, out_line;
  int width;
};

void resample(const Side& side, const double* in, double* out) {
  const ResampleAxis axis =
      resample_axis(side.before, side.before, {.resize = side.after, .crop = side.after});
  for (int i = 0; i < side.after; ++i) {
    const ResampleAxis::Window window = axis.window(i);
    double sum = 0;
    for (int j = 0; j < window.count; ++j) sum += axis.real_weight(window, j);
    for (int line = 0; line < side.lines; ++line) {
      double* const to = out + std::size_t(line) * side.out_line + std::size_t(i) * side.step;
      for (int j = 0; j < window.count; ++j) {
        const double weight = axis.real_weight(window, j) / sum;
        const double* const from =
            in + std::size_t(line) * side.in_line + std::size_t(window.first + j) * side.step;
        for (int d = 0; d < side.width; ++d) to[d] += weight * from[d];
      }
    }
  }
}

}  // namespace

Result<VitModel> resize_vit(VitModel model, int image) {
  VitShape& shape = model.shape;
  if (image < shape.patch || image % shape.patch != 0 || image / shape.patch > kMaxPatchesPerSide) {
    return Status(Code::invalid_argument,
                  fmt::format("pictures of {} pixels do not fit: this ViT takes multiples of its "
                              "patch, {} to {}",
                              image, shape.patch, kMaxPatchesPerSide * shape.patch));
  }
  const int before = shape.side(), after = image / shape.patch, width = shape.width;
  if (before == after) return model;
  const auto d = std::size_t(width), prefix = std::size_t(shape.prefix) * d;
  const auto old_line = std::size_t(before) * d, new_line = std::size_t(after) * d;
  const std::vector<double> grid(model.positions.begin() + std::ptrdiff_t(prefix),
                                 model.positions.end());
  std::vector<double> narrow(std::size_t(before) * new_line), small(std::size_t(after) * new_line);
  resample({before, after, d, before, old_line, new_line, width}, grid.data(), narrow.data());
  resample({before, after, new_line, after, d, d, width}, narrow.data(), small.data());
  shape.image = image;
  model.positions.resize(prefix);
  model.positions.insert(model.positions.end(), small.begin(), small.end());
  return model;
}

}  // namespace engram
