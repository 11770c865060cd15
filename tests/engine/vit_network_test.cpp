#include "engine/vit_network.h"

#include <algorithm>
#include <cmath>

#include "engine/adapt_plan.h"
#include "kernels/kernels_simt.h"
#include "platform/philox.h"
#include "tests/support/catch.h"
#include "tests/support/random_matrix.h"
#include "tests/support/small_vit.h"
#include "tests/support/vit_reference.h"
#include "tests/support/worst.h"

namespace engram {
namespace {

constexpr int kClasses = 3;
constexpr AdaptMethod kMethods[] = {AdaptMethod::adaptformer, AdaptMethod::ssf, AdaptMethod::vpt};
constexpr test::VitKind kKinds[] = {test::VitKind::plain, test::VitKind::layer_scale,
                                    test::VitKind::clip};

// Network and head with memory of their own: loss and gradient of one batch.
struct Bench {
  Bench(const VitModel& vit, const AdaptSettings& wanted, int pictures, int recomputed,
        const Kernels& kernels = kCpuKernels)
      : model(vit),
        settings(wanted),
        parameters(test::random_parameters(vit.shape, wanted, kClasses)),
        arena(Arena::create(bytes(pictures, recomputed)).value()),
        list(&arena),
        buffers(work(pictures, recomputed), parameters.values.size(), kClasses, list),
        network(model, kernels, buffers.vit, settings.branch_scale),
        head(kernels, buffers.head),
        adapt(views_of<const float>(parameters.slices, vit.shape.blocks, parameters.values.data())),
        gradients(views_of<float>(parameters.slices, vit.shape.blocks, buffers.gradients.data)) {
    CHECK(arena.used() == arena.size());
  }

  VitWork work(int pictures, int recomputed) const {
    return AdaptPlan{pictures, recomputed, {}, 0}.work(VitFacts::of(model), settings);
  }
  std::size_t bytes(int pictures, int recomputed) const {
    BufferList none(nullptr);
    const AdaptBuffers planned(work(pictures, recomputed), parameters.values.size(), kClasses,
                               none);
    return std::size_t(none.bytes());
  }

  // In micro-batches of `part` pictures.
  double step(const std::vector<float>& pictures, const std::vector<int>& labels, int part) {
    const int size = 3 * model.shape.image * model.shape.image, count = int(labels.size());
    std::fill_n(buffers.gradients.data, buffers.gradients.cols, 0.0f);
    REQUIRE(head.begin_step(adapt).ok());
    HeadResult result;
    for (int first = 0; first < count; first += part) {
      const int some = std::min(part, count - first);
      const StepDropout dropout{float(settings.dropout), 5, 2, count, first};
      REQUIRE(network
                  .forward({pictures.data() + first * size, some, size, size}, adapt, dropout,
                           head.features(some))
                  .ok());
      REQUIRE(
          head.loss_and_gradient(std::span(labels).subspan(std::size_t(first), std::size_t(some)),
                                 adapt, 1.0f / float(count), gradients, result)
              .ok());
      REQUIRE(network.backward(head.dfeatures(some), adapt, dropout, gradients).ok());
    }
    REQUIRE(head.end_step(gradients).ok());
    return result.loss / count;
  }
  std::vector<float> gradient() const {
    return {buffers.gradients.data, buffers.gradients.data + buffers.gradients.cols};
  }

  const VitModel& model;
  AdaptSettings settings;
  AdaptParameters parameters;
  Arena arena;
  BufferList list;
  AdaptBuffers buffers;
  VitNetwork network;
  CosineHead head;
  AdaptViews<const float> adapt;
  AdaptViews<float> gradients;
};

// The mask that kernels/dropout.h and StepDropout speak of, for step 2, seed 5.
test::KeepMask mask_of(const VitModel& model, const AdaptSettings& settings, int batch) {
  return [&model, &settings, batch](int block, int picture, int token, int channel) {
    const int tokens = model.shape.tokens(), rank = settings.rank;
    const bool is_last = block == model.shape.blocks - 1;
    if (is_last && token > 0) return 1.0;  // nobody looks at it
    const int row = is_last ? picture : picture * tokens + token;
    const std::uint64_t n =
        std::uint64_t((2 * model.shape.blocks + block) * batch * tokens * rank) +
        std::uint64_t(row * rank + channel);
    const PhiloxWords words =
        philox({std::uint32_t(n / 4), 0, 0, std::uint32_t(PhiloxStream::dropout)}, 5);
    return words[n % 4] >= settings.dropout * 0x1p32 ? 1 / (1 - settings.dropout) : 0.0;
  };
}

double largest(const std::vector<float>& values) {
  test::Worst most;
  for (const float value : values) most.see(std::abs(double(value)));
  return most.value();
}

}  // namespace

TEST_CASE("vit: features as in double", "[engine][vit]") {
  for (const test::VitKind kind : kKinds) {
    const VitModel model = test::small_vit(kind);
    const std::vector<float> pictures = test::random_pictures(model.shape, 3);
    const int size = 3 * model.shape.image * model.shape.image, l = model.shape.features;
    BufferList planned(nullptr);
    const VitWork work = VitWork::of(model.shape, model.input_norm.has_value(), nullptr, 3);
    const VitBuffers sizes(work, planned);
    Arena arena = Arena::create(std::size_t(planned.bytes())).value();
    BufferList list(&arena);
    VitNetwork network(model, kCpuKernels, VitBuffers(work, list), 0);
    const auto none = views_of<const float>({}, model.shape.blocks, nullptr);
    std::vector<float> features(std::size_t(3 * l));
    REQUIRE(network.forward({pictures.data(), 3, size, size}, none, {}, {features.data(), 3, l, l})
                .ok());
    const test::VitReference reference(model, nullptr);
    for (int b = 0; b < 3; ++b) {
      const test::Doubles expected = reference.features(pictures.data() + b * size);
      for (int i = 0; i < l; ++i) {
        CHECK(features[std::size_t(b * l + i)] == Approx(expected[std::size_t(i)]).margin(2e-5));
      }
    }
  }
}

TEST_CASE("vit: gradients are those of central differences in double", "[engine][vit]") {
  for (const AdaptMethod method : kMethods) {
    for (const test::VitKind kind : kKinds) {
      for (const double dropout : {0.0, 0.3}) {
        if (dropout > 0 && method != AdaptMethod::adaptformer) continue;
        CAPTURE(name(method), int(kind), dropout);
        const VitModel model = test::small_vit(kind);
        AdaptSettings settings = test::small_settings(method);
        settings.dropout = dropout;
        const std::vector<float> pictures = test::random_pictures(model.shape, 4);
        const std::vector<int> labels{0, 2, 1, 2};
        Bench bench(model, settings, 4, 0);
        const double loss = bench.step(pictures, labels, 4);
        const std::vector<float> gradient = bench.gradient();
        test::VitReference reference(model, &bench.parameters,
                                     dropout > 0 ? mask_of(model, settings, 4) : test::KeepMask());
        CHECK(loss == Approx(reference.loss(pictures, labels)).epsilon(1e-5));
        const double scale = largest(gradient);
        for (const AdaptSlice& slice : bench.parameters.slices) {
          CAPTURE(slice.name);
          test::Worst worst;
          double most = 0;
          for (std::size_t i = slice.offset;
               i < slice.offset + std::size_t(slice.rows) * std::size_t(slice.cols); ++i) {
            const double slope =
                test::slope([&] { return reference.loss(pictures, labels); }, reference.values[i]);
            worst.see(std::abs(slope - gradient[i]));
            most = std::max(most, std::abs(slope));
          }
          CHECK(worst.value() < 2e-5 * scale);
          CHECK(most > 1e-4 * scale);  // and there is something to compare
        }
      }
    }
  }
}

TEST_CASE("vit: computing activations again changes no bit", "[engine][vit]") {
  for (const AdaptMethod method : kMethods) {
    const VitModel model = test::small_vit(test::VitKind::layer_scale, 5);
    AdaptSettings settings = test::small_settings(method);
    settings.dropout = 0.2;
    const std::vector<float> pictures = test::random_pictures(model.shape, 3);
    const std::vector<int> labels{0, 2, 1};
    Bench all(model, settings, 3, 0);
    const double loss = all.step(pictures, labels, 3);
    std::size_t bytes = all.arena.size();
    for (int recomputed = 1; recomputed <= 3; ++recomputed) {
      CAPTURE(name(method), recomputed);
      Bench less(model, settings, 3, recomputed);
      CHECK(less.step(pictures, labels, 3) == loss);
      CHECK(less.gradient() == all.gradient());
      CHECK(less.arena.size() < bytes);
      bytes = less.arena.size();
    }
  }
}

TEST_CASE("vit: micro-batches add up to the batch", "[engine][vit]") {
  for (const AdaptMethod method : kMethods) {
    const VitModel model = test::small_vit(test::VitKind::clip);
    AdaptSettings settings = test::small_settings(method);
    settings.dropout = 0.2;
    const std::vector<float> pictures = test::random_pictures(model.shape, 5);
    const std::vector<int> labels{0, 2, 1, 1, 0};
    Bench whole(model, settings, 5, 0);
    const double loss = whole.step(pictures, labels, 5);
    const std::vector<float> gradient = whole.gradient();
    for (const int part : {1, 2, 3}) {  // with a part that is smaller than the others, too
      CAPTURE(name(method), part);
      Bench parts(model, settings, part, 1);
      CHECK(parts.step(pictures, labels, part) == Approx(loss).epsilon(1e-6));
      const std::vector<float> sum = parts.gradient();
      test::Worst worst;
      for (std::size_t i = 0; i < sum.size(); ++i) worst.see(std::abs(sum[i] - gradient[i]));
      CHECK(worst.value() < 1e-5 * largest(gradient));
    }
  }
}

TEST_CASE("vit: a network of one block", "[engine][vit]") {
  for (const AdaptMethod method : kMethods) {
    CAPTURE(name(method));
    const VitModel model = test::small_vit(test::VitKind::plain, 1);
    Bench bench(model, test::small_settings(method), 2, 0);
    const std::vector<float> pictures = test::random_pictures(model.shape, 2);
    const test::VitReference reference(model, &bench.parameters);
    CHECK(bench.step(pictures, {0, 1}, 2) ==
          Approx(reference.loss(pictures, {0, 1})).epsilon(1e-5));
    CHECK(largest(bench.gradient()) > 0);
    CHECK(std::isfinite(largest(bench.gradient())));
  }
}

TEST_CASE("vit: the GPU's kernels, emulated, give the CPU's gradients", "[engine][vit]") {
  for (const AdaptMethod method : kMethods) {
    for (const test::VitKind kind : {test::VitKind::layer_scale, test::VitKind::clip}) {
      CAPTURE(name(method), int(kind));
      const VitModel model = test::small_vit(kind);
      AdaptSettings settings = test::small_settings(method);
      settings.dropout = 0.2;
      const std::vector<float> pictures = test::random_pictures(model.shape, 3);
      const std::vector<int> labels{0, 2, 1};
      Bench host(model, settings, 2, 1), device(model, settings, 2, 1, kSimtKernels);
      CHECK(device.step(pictures, labels, 2) ==
            Approx(host.step(pictures, labels, 2)).epsilon(1e-5));
      const std::vector<float> expected = host.gradient(), gradient = device.gradient();
      test::Worst worst;
      for (std::size_t i = 0; i < gradient.size(); ++i) {
        worst.see(std::abs(double(gradient[i]) - expected[i]));
      }
      CHECK(worst.value() < 1e-5 * largest(expected));
    }
  }
}

}  // namespace engram
