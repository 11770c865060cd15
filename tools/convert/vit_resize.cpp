// Resize of constants: position embeddings that a model brings to its own grid each time it runs.
#include <algorithm>
#include <array>
#include <cmath>

#include "platform/onnx_attribute.h"
#include "tools/convert/vit_fold.h"
#include "tools/convert/vit_moves_parts.h"

namespace engram {

namespace {

// How one axis is resampled: for each place of the output up to four places with their weights.
struct Axis {
  std::vector<std::array<int, 4>> places;
  std::vector<std::array<double, 4>> weights;
};

double source_of(const std::string& mode, int at, int from, int to, double scale) {
  if (mode == "align_corners") return to == 1 ? 0 : at * double(from - 1) / (to - 1);
  if (mode == "asymmetric") return at / scale;
  if (mode == "pytorch_half_pixel" && to == 1) return 0;
  return (at + 0.5) / scale - 0.5;  // half_pixel
}

Axis resampling(const std::string& mode, bool cubic, double a, int from, int to, double scale) {
  Axis axis;
  for (int i = 0; i < to; ++i) {
    double x = source_of(mode, i, from, to, scale);
    if (!cubic) x = std::clamp(x, 0.0, double(from - 1));
    x = std::clamp(x, -4.0, from + 4.0);
    const int left = static_cast<int>(std::floor(x));
    const double t = x - left;
    std::array<double, 4> weight{0, 1 - t, t, 0};
    if (cubic) {  // Keys' kernel
      const auto near = [&](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
      const auto far = [&](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
      weight = {far(t + 1), near(t), near(1 - t), far(2 - t)};
    }
    std::array<int, 4> place{};
    for (int k = 0; k < 4; ++k) {
      place[static_cast<std::size_t>(k)] = std::clamp(left - 1 + k, 0, from - 1);
    }
    axis.places.push_back(place);
    axis.weights.push_back(weight);
  }
  return axis;
}

struct Sizes {
  Dims dims;
  std::vector<double> scales;
};

// Inputs: X, roi, scales, sizes (opset 11 on) or X, scales (opset 10).
Result<Sizes> sizes_of(const OnnxNode& node, const std::vector<ConstantTensor>& inputs) {
  const Dims& from = inputs[0]->dims;
  const auto given = [&](std::size_t index) -> const FoldedTensor* {
    const FoldedTensor* one = index < inputs.size() ? inputs[index].get() : nullptr;
    return one && one->size() == from.size() ? one : nullptr;
  };
  Sizes sizes;
  const FoldedTensor* scales = inputs.size() == 2 ? given(1) : given(2);
  const FoldedTensor* wanted = given(3);
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] < 1) return odd_move(node, "has nothing to resize");
    if (wanted && wanted->whole) {
      sizes.dims.push_back(wanted->wholes[i]);
      sizes.scales.push_back(double(wanted->wholes[i]) / double(from[i]));
    } else if (scales && !scales->whole && scales->reals[i] > 0 && scales->reals[i] < 1e4f) {
      sizes.scales.push_back(double(scales->reals[i]));
      sizes.dims.push_back(
          static_cast<std::int64_t>(std::floor(double(from[i]) * sizes.scales[i])));
    } else {
      return odd_move(node, "has no size");
    }
    if (sizes.dims[i] < 1) return odd_move(node, "has an impossible size");
  }
  return sizes;
}

}  // namespace

Result<FoldedTensor> fold_resize(const OnnxNode& node, const std::vector<ConstantTensor>& inputs,
                                 WorkBudget& budget) {
  const FoldedTensor& input = *inputs[0];
  const std::string kind = onnx_attribute(node, "mode").text;
  const OnnxAttribute where = onnx_attribute(node, "coordinate_transformation_mode");
  const OnnxAttribute a = onnx_attribute(node, "cubic_coeff_a");
  const std::string mode = where.given ? where.text : "half_pixel";
  if (input.dims.size() != 4 || input.whole || (kind != "linear" && kind != "cubic") ||
      onnx_attribute(node, "antialias").whole != 0 ||
      onnx_attribute(node, "exclude_outside").whole != 0 || mode == "tf_crop_and_resize") {
    return odd_move(node,
                    "of its positions is of a kind that is not known here: export the model "
                    "for one size of picture");
  }
  ENGRAM_ASSIGN(const Sizes to, sizes_of(node, inputs));
  if (to.dims[0] != input.dims[0] || to.dims[1] != input.dims[1]) {
    return odd_move(node, "changes more than height and width");
  }
  const std::int64_t count = value_count(to.dims);
  ENGRAM_TRY(budget.take(count < 0 ? -1 : count * 16));
  const int height = static_cast<int>(input.dims[2]), width = static_cast<int>(input.dims[3]);
  const double coefficient = a.given ? double(a.real) : -0.75;
  const Axis rows = resampling(mode, kind == "cubic", coefficient, height,
                               static_cast<int>(to.dims[2]), to.scales[2]);
  const Axis columns = resampling(mode, kind == "cubic", coefficient, width,
                                  static_cast<int>(to.dims[3]), to.scales[3]);
  FoldedTensor result;
  result.dims = to.dims;
  for (std::int64_t plane = 0; plane < to.dims[0] * to.dims[1]; ++plane) {
    const float* from = input.reals.data() + plane * height * width;
    for (std::size_t y = 0; y < rows.places.size(); ++y) {
      for (std::size_t x = 0; x < columns.places.size(); ++x) {
        double sum = 0;
        for (std::size_t i = 0; i < 4; ++i) {
          for (std::size_t j = 0; j < 4; ++j) {
            sum += rows.weights[y][i] * columns.weights[x][j] *
                   double(from[rows.places[y][i] * width + columns.places[x][j]]);
          }
        }
        result.reals.push_back(static_cast<float>(sum));
      }
    }
  }
  return result;
}

}  // namespace engram
