// What a step of Phase 1 costs, by method, by direction and by operation.
//
//     bench_adapt [--model=s14] [--batch=8] [--micro=8] [--turns=3] [--threads=N] [--recomputed=0] [--method=ssf]
//
// Models: s14 and s16 (ViT-S), b16 (ViT-B), at 224 pixels, with made-up weights and pictures: times do
// not depend on them. A step is forward, cross entropy, backward and SGD on one batch, in micro-batches;
// the best of `turns` is printed, and what each operation took of it.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "engine/adapt_training.h"
#include "kernels/kernels.h"
#include "tools/bench/bench_clock.h"
#include "tools/bench/bench_settings.h"

namespace engram::bench {
namespace {

struct Asked {
  std::string model = "s14", method;
  int batch = 8, micro = 8, turns = 3, recomputed = 0;
};

bool read(int argc, char* argv[], Asked& asked) {
  const std::map<std::string, int*> numbers{{"--batch", &asked.batch},
                                            {"--micro", &asked.micro},
                                            {"--turns", &asked.turns},
                                            {"--recomputed", &asked.recomputed}};
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    if (name == "--model" && (value == "s14" || value == "s16" || value == "b16")) {
      asked.model = value;
    } else if (name == "--method" && parse_adapt_method(value).ok()) {
      asked.method = value;
    } else if (name == "--threads" && std::atoi(value.c_str()) > 0) {
      set_thread_count(std::atoi(value.c_str()));
    } else if (numbers.contains(name) && !value.empty()) {
      *numbers.at(name) = std::atoi(value.c_str());
    } else {
      std::fprintf(stderr, "bench_adapt: %s is not an option; see the top of its source\n",
                   argument.c_str());
      return false;
    }
  }
  return true;
}

BufferVector<float> numbers(std::mt19937& random, int count, float size, float middle = 0) {
  std::uniform_real_distribution<float> draw(middle - size, middle + size);
  BufferVector<float> values(std::size_t(count), 0.0f);
  for (float& value : values) value = draw(random);
  return values;
}

VitModel make_model(const std::string& name) {
  VitModel model;
  VitShape& shape = model.shape;
  if (name != "b16") {
    shape.width = shape.features = 384;
    shape.heads = 6;
    shape.hidden = 1536;
  }
  if (name == "s14") shape.patch = 14;
  std::mt19937 random(1);
  const int d = shape.width;
  const auto linear = [&](int outputs, int inputs) {
    return VitLinear{numbers(random, outputs * inputs, 1.7f / std::sqrt(float(inputs))),
                     numbers(random, outputs, 0.1f)};
  };
  const auto norm = [&] { return VitNorm{numbers(random, d, 0.1f, 1), numbers(random, d, 0.1f)}; };
  model.patch = linear(d, 3 * shape.patch * shape.patch);
  model.prefix = numbers(random, d, 1);
  model.positions = numbers(random, shape.tokens() * d, 1);
  for (int i = 0; i < shape.blocks; ++i) {
    model.blocks.push_back({norm(),
                            linear(3 * d, d),
                            linear(d, d),
                            {},
                            norm(),
                            linear(shape.hidden, d),
                            linear(d, shape.hidden),
                            {}});
  }
  model.norm = norm();
  return model;
}

// A table whose operations note what they took.
struct Noted {
  const char* name;
  bool is_backward;
  double seconds;
  int calls;
};
std::array<Noted, 32> noted{};
int noted_count = 0;

template <auto operation>
struct Timed;
template <class... Parameters, Status (*Kernels::*operation)(Stream, Parameters...)>
struct Timed<operation> {
  static inline int place = 0;
  static Status call(Stream stream, Parameters... parameters) {
    const double start = clock_seconds();
    Status status = (kCpuKernels.*operation)(stream, parameters...);
    noted[std::size_t(place)].seconds += clock_seconds() - start;
    ++noted[std::size_t(place)].calls;
    return status;
  }
  static void put(Kernels& table, const char* name, bool is_backward) {
    place = noted_count++;
    noted[std::size_t(place)] = {name, is_backward, 0, 0};
    table.*operation = call;
  }
};

Kernels timed_kernels() {
  Kernels table = kCpuKernels;
  Timed<&Kernels::patches>::put(table, "patches", false);
  Timed<&Kernels::embed_tokens>::put(table, "embed_tokens", false);
  Timed<&Kernels::set_tokens>::put(table, "set_tokens", false);
  Timed<&Kernels::layer_norm>::put(table, "layer_norm", false);
  Timed<&Kernels::linear>::put(table, "linear", false);
  Timed<&Kernels::scale_shift>::put(table, "scale_shift", false);
  Timed<&Kernels::attention>::put(table, "attention", false);
  Timed<&Kernels::gelu>::put(table, "gelu", false);
  Timed<&Kernels::add_scaled>::put(table, "add_scaled", false);
  Timed<&Kernels::dropout>::put(table, "dropout", false);
  Timed<&Kernels::unit_rows>::put(table, "unit_rows", false);
  Timed<&Kernels::cross_entropy>::put(table, "cross_entropy", true);
  Timed<&Kernels::sum_tokens>::put(table, "sum_tokens", true);
  Timed<&Kernels::layer_norm_back>::put(table, "layer_norm_back", true);
  Timed<&Kernels::linear_back>::put(table, "linear_back", true);
  Timed<&Kernels::linear_gradient>::put(table, "linear_gradient", true);
  Timed<&Kernels::scale_shift_back>::put(table, "scale_shift_back", true);
  Timed<&Kernels::attention_back>::put(table, "attention_back", true);
  Timed<&Kernels::gelu_back>::put(table, "gelu_back", true);
  Timed<&Kernels::unit_rows_back>::put(table, "unit_rows_back", true);
  Timed<&Kernels::sgd_step>::put(table, "sgd_step", true);
  return table;
}

void run(const Asked& asked, AdaptMethod method, const VitModel& model, const Kernels& kernels) {
  AdaptData data;
  data.classes = 10;
  for (int i = 0; i < asked.batch; ++i) data.labels.push_back(i % data.classes);
  data.pictures = [](std::span<const int> samples, int, MatrixView<float> tensors) {
    for (int r = 0; r < int(samples.size()); ++r) {
      for (int c = 0; c < tensors.cols; ++c) tensors(r, c) = float((c * 7 + r * 13) % 251) / 64 - 2;
    }
    return Status();
  };
  AdaptSettings settings;
  settings.method = method;
  settings.epochs = asked.turns + 1;
  settings.batch = asked.batch;
  settings.micro_batch = std::min(asked.micro, asked.batch);
  settings.recomputed_blocks = asked.recomputed;
  AdaptTraining training =
      must(AdaptTraining::create(model, settings, data, std::int64_t{1} << 40, kernels));
  must(training.epoch());  // memory becomes real
  double best = 1e9;
  std::array<Noted, 32> of_best{};
  for (int turn = 0; turn < asked.turns; ++turn) {
    for (Noted& operation : noted) operation.seconds = operation.calls = 0;
    const double start = clock_seconds();
    must(training.epoch());
    const double took = clock_seconds() - start;
    if (took < best) of_best = noted;
    best = std::min(best, took);
  }
  double forward = 0, backward = 0;
  for (const Noted& operation : of_best) {
    (operation.is_backward ? backward : forward) += operation.seconds;
  }
  std::printf(
      "%s: %.3f s a step of %d, %.1f ms a picture; operations: forward %.3f, backward %.3f, "
      "other %.3f s; %lld MB\n",
      name(method), best, asked.batch, 1000 * best / asked.batch, forward, backward,
      best - forward - backward, static_cast<long long>(training.plan().total() / 1000000));
  std::ranges::sort(of_best, {}, [](const Noted& operation) { return -operation.seconds; });
  for (const Noted& operation : of_best) {
    if (operation.calls == 0 || operation.seconds < 0.001 * best) continue;
    std::printf("  %-18s %5d calls %8.1f ms %6.1f %%\n", operation.name, operation.calls,
                1000 * operation.seconds, 100 * operation.seconds / best);
  }
}

}  // namespace
}  // namespace engram::bench

int main(int argc, char* argv[]) {
  using namespace engram;
  bench::Asked asked;
  if (!bench::read(argc, argv, asked)) return 64;
  const VitModel model = bench::make_model(asked.model);
  const Kernels kernels = bench::timed_kernels();
  for (const AdaptMethod method : {AdaptMethod::adaptformer, AdaptMethod::ssf, AdaptMethod::vpt}) {
    if (asked.method.empty() || asked.method == name(method)) {
      bench::run(asked, method, model, kernels);
    }
  }
}
