#include "tests/support/vit_reference.h"

#include <algorithm>
#include <cmath>

namespace engram::test {
namespace {

// y[r,o] = sum over i of x[r,i] w[o,i] + b[o]
template <class Weights, class Bias>
Doubles linear(const Doubles& x, const Weights& w, const Bias& b, int inputs, int outputs) {
  const std::size_t rows = x.size() / std::size_t(inputs);
  Doubles y(rows * std::size_t(outputs));
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t o = 0; o < std::size_t(outputs); ++o) {
      double sum = std::size(b) == 0 ? 0.0 : double(b[o]);
      for (std::size_t i = 0; i < std::size_t(inputs); ++i) {
        sum += x[r * std::size_t(inputs) + i] * double(w[o * std::size_t(inputs) + i]);
      }
      y[r * std::size_t(outputs) + o] = sum;
    }
  }
  return y;
}
Doubles linear(const Doubles& x, const VitLinear& layer, int inputs) {
  return linear(x, layer.weight, layer.bias, inputs,
                int(layer.weight.size() / std::size_t(inputs)));
}

Doubles layer_norm(const Doubles& x, const VitNorm& norm, double epsilon) {
  const std::size_t d = norm.weight.size();
  Doubles y(x.size());
  for (std::size_t r = 0; r < x.size(); r += d) {
    double mean = 0, variance = 0;
    for (std::size_t c = 0; c < d; ++c) mean += x[r + c] / double(d);
    for (std::size_t c = 0; c < d; ++c) variance += std::pow(x[r + c] - mean, 2) / double(d);
    for (std::size_t c = 0; c < d; ++c) {
      y[r + c] = (x[r + c] - mean) / std::sqrt(variance + epsilon) * norm.weight[c] + norm.bias[c];
    }
  }
  return y;
}

double activation(double x, GeluKind kind) {
  switch (kind) {
    case GeluKind::erf:
      return x * 0.5 * (1 + std::erf(x / std::sqrt(2.0)));
    case GeluKind::tanh:
      return x * 0.5 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case GeluKind::quick:
      return x / (1 + std::exp(-1.702 * x));
    case GeluKind::relu:
      return std::max(x, 0.0);
  }
  return 0;
}

void add_branch(Doubles& x, const Doubles& branch, const BufferVector<float>& scale) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] += branch[i] * (scale.empty() ? 1.0 : double(scale[i % scale.size()]));
  }
}

}  // namespace

VitReference::Slice VitReference::slice(const std::string& name) const {
  if (parameters_ == nullptr) return {};
  const MatrixView<const float> view = parameters_->slice(name);
  if (view.rows == 0) return {};
  return {values.data() + (view.data - parameters_->values.data()), view.rows, view.cols};
}

void VitReference::scale_shift(const std::string& name, Doubles& y) const {
  const Slice scale = slice(name + ".scale"), shift = slice(name + ".shift");
  if (!scale) return;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::size_t c = i % std::size_t(scale.cols);
    y[i] = scale.data[c] * y[i] + shift.data[c];
  }
}

Doubles VitReference::attention(const Doubles& qkv, int tokens) const {
  const int d = model_.shape.width, head = model_.shape.head();
  const auto at = [&](int token, int column) {
    return qkv[std::size_t(token) * std::size_t(3 * d) + std::size_t(column)];
  };
  Doubles out(std::size_t(tokens) * std::size_t(d));
  for (int h = 0; h < model_.shape.heads; ++h) {
    for (int q = 0; q < tokens; ++q) {
      Doubles shares(static_cast<std::size_t>(tokens));
      double sum = 0;
      for (int k = 0; k < tokens; ++k) {
        double dot = 0;
        for (int c = 0; c < head; ++c) dot += at(q, h * head + c) * at(k, d + h * head + c);
        sum += shares[std::size_t(k)] = std::exp(dot / std::sqrt(double(head)));
      }
      for (int c = 0; c < head; ++c) {
        double value = 0;
        for (int k = 0; k < tokens; ++k) {
          value += shares[std::size_t(k)] / sum * at(k, 2 * d + h * head + c);
        }
        out[std::size_t(q) * std::size_t(d) + std::size_t(h * head + c)] = value;
      }
    }
  }
  return out;
}

void VitReference::block(int index, int picture, Doubles& x, int tokens) const {
  const VitShape& shape = model_.shape;
  const VitBlock& weights = model_.blocks[std::size_t(index)];
  const std::string prefix = "blocks." + std::to_string(index) + ".";
  const int d = shape.width;
  Doubles n = layer_norm(x, weights.norm1, shape.epsilon);
  scale_shift(prefix + "norm1", n);
  Doubles qkv = linear(n, weights.qkv, d);
  scale_shift(prefix + "qkv", qkv);
  Doubles branch = linear(attention(qkv, tokens), weights.proj, d);
  scale_shift(prefix + "proj", branch);
  add_branch(x, branch, weights.scale1);
  const Doubles middle = x;
  n = layer_norm(x, weights.norm2, shape.epsilon);
  scale_shift(prefix + "norm2", n);
  Doubles hidden = linear(n, weights.fc1, d);
  scale_shift(prefix + "fc1", hidden);
  for (double& value : hidden) value = activation(value, shape.gelu);
  branch = linear(hidden, weights.fc2, shape.hidden);
  scale_shift(prefix + "fc2", branch);
  add_branch(x, branch, weights.scale2);
  const Slice down = slice(prefix + "down.weight"), up = slice(prefix + "up.weight");
  if (!down) return;
  const int rank = down.rows;
  const auto bias = [&](const std::string& name) {
    const Slice row = slice(prefix + name);
    return Doubles(row.data, row.data + row.cols);
  };
  Doubles narrow = linear(middle, down.data, bias("down.bias"), d, rank);
  for (std::size_t i = 0; i < narrow.size(); ++i) {
    const int token = int(i) / rank, channel = int(i) % rank;
    const double keep = mask_ ? mask_(index, picture, token, channel) : 1.0;
    narrow[i] = std::max(narrow[i], 0.0) * keep;
  }
  const Doubles added = linear(narrow, up.data, bias("up.bias"), rank, d);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += parameters_->branch_scale * added[i];
}

Doubles VitReference::features(const float* picture, int number) const {
  const VitShape& shape = model_.shape;
  const int d = shape.width, p = shape.patch;
  Doubles rows;
  for (int patch = 0; patch < shape.patches(); ++patch) {
    const int top = patch / shape.side() * p, left = patch % shape.side() * p;
    for (int channel = 0; channel < 3; ++channel) {
      for (int y = 0; y < p; ++y) {
        for (int x = 0; x < p; ++x) {
          rows.push_back(picture[(channel * shape.image + top + y) * shape.image + left + x]);
        }
      }
    }
  }
  Doubles e = linear(rows, model_.patch, 3 * p * p);
  scale_shift("patch", e);
  Doubles x(model_.prefix.begin(), model_.prefix.end());
  x.insert(x.end(), e.begin(), e.end());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += model_.positions[i];
  if (model_.input_norm) x = layer_norm(x, *model_.input_norm, shape.epsilon);
  for (int i = 0; i < shape.blocks; ++i) {
    x.resize(std::size_t(shape.tokens()) * std::size_t(d));
    const Slice prompts = slice("blocks." + std::to_string(i) + ".prompts");
    if (prompts) x.insert(x.end(), prompts.data, prompts.data + prompts.rows * prompts.cols);
    block(i, number, x, shape.tokens() + prompts.rows);
  }
  x.resize(std::size_t(d));
  Doubles f = layer_norm(x, model_.norm, shape.epsilon);
  scale_shift("norm", f);
  return model_.projection ? linear(f, *model_.projection, d) : f;
}

double VitReference::loss(const std::vector<float>& pictures,
                          const std::vector<int>& labels) const {
  const Slice head = slice("head.weight");
  const double sigma = *slice("head.sigma").data;
  const int image = model_.shape.image;
  double sum = 0;
  for (std::size_t b = 0; b < labels.size(); ++b) {
    const Doubles f = features(pictures.data() + b * std::size_t(3 * image * image), int(b));
    Doubles scores;
    for (int k = 0; k < head.rows; ++k) {
      double dot = 0, ff = 0, ww = 0;
      for (int l = 0; l < head.cols; ++l) {
        const double w = head.data[k * head.cols + l];
        dot += f[std::size_t(l)] * w;
        ff += f[std::size_t(l)] * f[std::size_t(l)];
        ww += w * w;
      }
      scores.push_back(sigma * dot / std::sqrt(ff * ww));
    }
    double total = 0;
    for (const double score : scores) total += std::exp(score);
    sum += std::log(total) - scores[std::size_t(labels[b])];
  }
  return sum / double(labels.size());
}

}  // namespace engram::test
