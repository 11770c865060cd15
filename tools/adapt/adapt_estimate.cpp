#include "tools/adapt/adapt_estimate.h"

#include <algorithm>

#include "engine/adapt_training.h"
#include "kernels/kernel_work.h"
#include "kernels/kernels.h"

namespace engram {
namespace {

using In = MatrixView<const float>;
using Out = MatrixView<float>;

// Operations are plain functions, so what they add to is found here.
struct Tally {
  const DevicePeaks& device;
  AdaptEstimate estimate;

  Status add(const char* name, const OperationShape& shape) {
    const Estimate one = engram::estimate(kernel_work(name, shape, device.cache_bytes), device);
    auto& all = estimate.operations;
    auto found = std::find_if(all.begin(), all.end(), [&](auto& row) { return row.name == name; });
    if (found == all.end()) found = all.insert(all.end(), {.name = name});
    ++found->calls;
    found->seconds += one.seconds + one.launches * kLaunchSeconds;
    return {};
  }
};
thread_local Tally* tally = nullptr;

// A linear map of `rows`, and what works on rows alone.
Status add_map(const char* name, int rows, int inputs, int outputs) {
  return tally->add(name, {.frames = rows, .features = inputs, .units = outputs});
}
Status add_rows(const char* name, In x) {
  return tally->add(name, {.frames = x.rows, .features = x.cols, .units = x.cols, .tokens = 1});
}
Status add_attention(const char* name, In qkv, int tokens, int heads) {
  return tally->add(
      name,
      {.frames = qkv.rows / tokens, .features = qkv.cols / 3, .tokens = tokens, .heads = heads});
}

Kernels counting_kernels() {
  Kernels k = kCpuKernels;
  k.name = "counting";
  k.patches = [](Stream, In, int, int, Out rows) { return add_rows("patches", rows); };
  k.embed_tokens = [](Stream, In, In, In, int, Out x) { return add_rows("embed_tokens", x); };
  k.set_tokens = [](Stream, In, int, int tokens, Out x) {
    return tally->add("set_tokens", {.frames = x.rows / tokens, .features = x.cols});
  };
  k.sum_tokens = [](Stream, int, int tokens, Out dx, Out) {
    return tally->add("sum_tokens", {.frames = dx.rows / tokens, .features = dx.cols});
  };
  k.layer_norm = [](Stream, In x, In, In, float, Out, Out) { return add_rows("layer_norm", x); };
  k.layer_norm_back = [](Stream, In dy, In, In, In, bool, Out) {
    return add_rows("layer_norm_back", dy);
  };
  k.attention = [](Stream, In qkv, int tokens, int heads, float, Out, Out) {
    return add_attention("attention", qkv, tokens, heads);
  };
  k.attention_back = [](Stream, In, In qkv, In, In, int tokens, int heads, float, Out) {
    return add_attention("attention_back", qkv, tokens, heads);
  };
  k.gelu = [](Stream, In x, GeluKind, Out) { return add_rows("gelu", x); };
  k.gelu_back = [](Stream, In dy, In, GeluKind, Out) { return add_rows("gelu_back", dy); };
  k.linear = [](Stream, In x, In w, In, Out) { return add_map("linear", x.rows, x.cols, w.rows); };
  k.linear_back = [](Stream, In dy, In w, bool, Out) {
    return add_map("linear_back", dy.rows, w.cols, w.rows);
  };
  k.linear_gradient = [](Stream, In dy, In x, Out, Out) {
    return add_map("linear_gradient", dy.rows, x.cols, dy.cols);
  };
  k.scale_shift = [](Stream, In y, In, In, Out) { return add_rows("scale_shift", y); };
  k.scale_shift_back = [](Stream, In dz, In, In, Out, Out, Out) {
    return add_rows("scale_shift_back", dz);
  };
  k.add_scaled = [](Stream, In, In a, In, float, Out) { return add_rows("add_scaled", a); };
  k.dropout = [](Stream, In x, float, std::uint64_t, std::uint64_t, Out) {
    return add_rows("dropout", x);
  };
  k.unit_rows = [](Stream, In x, Out, Out) { return add_rows("unit_rows", x); };
  k.unit_rows_back = [](Stream, In dy, In, In, Out) { return add_rows("unit_rows_back", dy); };
  k.cross_entropy = [](Stream, In cosines, In, MatrixView<const int>, float, Out, Out, Out) {
    return tally->add("cross_entropy", {.frames = cosines.rows, .classes = cosines.cols});
  };
  k.sgd_step = [](Stream, In g, float, float, float, Out, Out) { return add_rows("sgd_step", g); };
  return k;
}

}  // namespace

double AdaptEstimate::step_seconds() const {
  double sum = 0;
  for (const Operation& operation : operations) sum += operation.seconds;
  return sum;
}

Result<AdaptEstimate> estimate_adaptation(const VitModel& model, const AdaptSettings& settings,
                                          int classes, std::int64_t memory,
                                          const DevicePeaks& device) {
  static const Kernels kernels = counting_kernels();
  AdaptData data{.labels = std::vector<int>(std::size_t(settings.batch)),
                 .classes = classes,
                 .pictures = [](std::span<const int>, int, Out) { return Status(); },
                 .held_out = {}};
  for (int i = 0; i < settings.batch; ++i) data.labels[std::size_t(i)] = i % classes;
  AdaptSettings step_alone = settings;
  step_alone.head_start = HeadStart::random;  // means take a forward of all pictures, once
  ENGRAM_ASSIGN(auto training, AdaptTraining::create(model, step_alone, data, memory, kernels));
  Tally counted{device, {}};
  tally = &counted;
  const Status done = training.epoch();  // one step
  tally = nullptr;
  ENGRAM_TRY(done);
  std::sort(counted.estimate.operations.begin(), counted.estimate.operations.end(),
            [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  return std::move(counted.estimate);
}

}  // namespace engram
