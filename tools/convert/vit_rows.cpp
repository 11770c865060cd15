#include "tools/convert/vit_rows.h"

#include <cmath>

#include "platform/onnx_attribute.h"
#include "tools/convert/vit_fold.h"

namespace engram {

namespace {

// Noise that is the same everywhere; its distribution does not matter.
double noise(std::uint64_t number) {
  number = (number + 1) * 0x9e3779b97f4a7c15u;
  number ^= number >> 31;
  number *= 0xbf58476d1ce4e5b9u;
  number ^= number >> 29;
  return static_cast<double>(number >> 11) * 0x1p-53 * 4 - 2;  // -2..2
}

}  // namespace

RowProbe first_probe(int width) {
  RowProbe probe{.width = width, .values = {}};
  for (int row = 0; row < kProbeRows; ++row) {
    for (int i = 0; i < width; ++i) {
      const auto number = static_cast<std::uint64_t>(i);
      const double one = noise(number), other = 3 * noise(number + 1'000'003) + 0.5;
      const double sweep = width > 1 ? 12.0 * i / (width - 1) - 6 : 1;
      const double rows[kProbeRows] = {0, 1, one, other, sweep, kSmallness * one};
      probe.values.push_back(rows[row]);
    }
  }
  return probe;
}

namespace {

// The value at (row, i) of an operand, and whether a constant can be one: the same for all rows.
struct Operand {
  const RowProbe* probe = nullptr;
  const FoldedTensor* constant = nullptr;

  bool fits(int width) const {
    if (probe) return probe->width == width || probe->width == 1;
    if (!constant || (constant->size() != 1 && std::ssize(constant->reals) != width)) return false;
    return constant->size() == 1 || constant->dims.back() == width;
  }
  double at(int row, int i) const {
    if (probe)
      return probe->values[static_cast<std::size_t>(row * probe->width + i % probe->width)];
    return constant->at(constant->size() == 1 ? 0 : static_cast<std::size_t>(i));
  }
};

bool over_last_axis(const VitNode& node, const Dims& dims) {
  Dims axes = onnx_attribute(*node.onnx, "axes").wholes;
  if (node.inputs.size() > 1 && node.inputs[1].constant) axes = node.inputs[1].constant->wholes;
  return axes.size() == 1 && normal_axis(axes[0], dims.size()) == int(dims.size()) - 1;
}

// A layer norm in one operation.
bool norm_operation(const VitNode& node, const std::vector<Operand>& in, int width,
                    RowProbe& result) {
  const OnnxAttribute axis = onnx_attribute(*node.onnx, "axis");
  const OnnxAttribute epsilon = onnx_attribute(*node.onnx, "epsilon");
  const int last = static_cast<int>(node.dims.size()) - 1;
  if (normal_axis(axis.given ? axis.whole : -1, node.dims.size()) != last) return false;
  for (int row = 0; row < kProbeRows; ++row) {
    const double* x = in[0].probe->values.data() + row * width;
    const RowMoments of = row_moments(x, width);
    const double deviation =
        std::sqrt(of.variance + (epsilon.given ? double(epsilon.real) : double(1e-5f)));
    for (int i = 0; i < width; ++i) {
      const double scaled = (x[i] - of.mean) / deviation * in[1].at(row, i);
      result.values.push_back(scaled + (in.size() > 2 ? in[2].at(row, i) : 0));
    }
  }
  return true;
}

}  // namespace

bool probe_operation(const VitNode& node, const std::vector<const RowProbe*>& inputs, int width,
                     RowProbe& result) {
  const std::string& kind = node.onnx->operation;
  std::vector<Operand> in;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i] && !node.inputs[i].constant) continue;  // left out
    in.push_back({inputs[i], node.inputs[i].constant.get()});
  }
  result = {.width = width, .values = {}};
  if (in.empty()) return false;
  if (kind == "ReduceMean") {
    result.width = 1;
    if (!in[0].probe || in[0].probe->width != width || node.dims.empty() || node.dims.back() != 1 ||
        !over_last_axis(node, node.dims)) {
      return false;
    }
    for (int row = 0; row < kProbeRows; ++row) {
      result.values.push_back(row_moments(in[0].probe->values.data() + row * width, width).mean);
    }
    return true;
  }
  for (const Operand& one : in) {
    if (!one.fits(width)) return false;
  }
  if (kind == "LayerNormalization") {
    return in.size() >= 2 && in[0].probe && in[0].probe->width == width &&
           norm_operation(node, in, width, result);
  }
  const std::string how = onnx_attribute(*node.onnx, "approximate").text;
  bool narrow = true;  // what depends on means alone stays one number a row
  for (const Operand& one : in) {
    narrow = narrow && (one.probe ? one.probe->width == 1 : one.constant->size() == 1);
  }
  result.width = narrow ? 1 : width;
  for (int row = 0; row < kProbeRows; ++row) {
    for (int i = 0; i < result.width; ++i) {
      const double x[2] = {in[0].at(row, i), in.size() > 1 ? in[1].at(row, i) : 0};
      result.values.push_back(kind == "Gelu"
                                  ? gelu_curve(how == "tanh" ? GeluKind::tanh : GeluKind::erf, x[0])
                                  : elementwise(kind, x, in.size()));
    }
  }
  return kind == "Gelu" || !std::isnan(elementwise(kind, (const double[]){0.5, 0.5}, in.size()));
}

}  // namespace engram
