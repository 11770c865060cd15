#include "engine/adapt_plan.h"

#include <set>

#include "kernels/kernels.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"
#include "tests/support/small_task.h"

namespace engram {
namespace {

constexpr AdaptMethod kMethods[] = {AdaptMethod::adaptformer, AdaptMethod::ssf, AdaptMethod::vpt};
constexpr std::int64_t kGB = 1'000'000'000;

const VitShape kSmall14{
    .image = 224, .patch = 14, .width = 384, .heads = 6, .hidden = 1536, .features = 384};
const VitShape kBase16{};  // ViT-B/16 at 224

AdaptSettings settings_of(AdaptMethod method) {
  AdaptSettings settings;
  settings.method = method;
  return settings;
}

AdaptPlan plan(const VitShape& shape, const AdaptSettings& settings, std::int64_t budget) {
  Result<AdaptPlan> plan = plan_adaptation(VitFacts::of(shape), settings, 100, budget);
  REQUIRE(plan.ok());
  CHECK(plan->total() <= budget);
  return std::move(plan).value();
}

}  // namespace

TEST_CASE("adapt plan: ViT-S/14 with batches of 8 in 1 GB, ViT-B/16 in 3 GB, nothing twice",
          "[engine][adapt]") {
  for (const AdaptMethod method : kMethods) {
    CAPTURE(name(method));
    AdaptSettings eight = settings_of(method);
    eight.batch = 8;
    const AdaptPlan small = plan(kSmall14, eight, kGB);
    CHECK(small.micro_batch == 8);
    CHECK(small.recomputed == 0);
    const AdaptPlan base = plan(kBase16, settings_of(method), 3 * kGB);
    CHECK(base.micro_batch == 10);  // 48 in five parts
    CHECK(base.recomputed == 0);
    std::set<std::string> names;
    for (const PlannedBuffer& buffer : base.buffers) CHECK(names.insert(buffer.name).second);
  }
}

TEST_CASE("adapt plan: rows have the right size", "[engine][adapt]") {
  const AdaptPlan base = plan(kBase16, settings_of(AdaptMethod::adaptformer), 3 * kGB);
  const auto bytes = [&](const std::string& name) {
    for (const PlannedBuffer& buffer : base.buffers) {
      if (buffer.name == name) return buffer.bytes;
    }
    FAIL("no row " + name);
    return std::int64_t{0};
  };
  const std::int64_t rows = 10 * 197;
  CHECK(bytes("weights of the model") == 4 * std::int64_t{85'798'656});  // timm's vit_base_patch16
  CHECK(bytes("parameters") == 4 * (12 * (2 * 64 * 768 + 64 + 768) + 100 * 768 + 16));
  CHECK(bytes("inputs of blocks") == 12 * rows * 768 * 4);
  CHECK(bytes("hidden units of MLPs") == 11 * rows * 3072 * 4);
  CHECK(bytes("last block: hidden units") == 10 * 3072 * 4);
}

TEST_CASE("adapt plan: with less memory the micro-batch shrinks, then blocks are computed again",
          "[engine][adapt]") {
  for (const AdaptMethod method : kMethods) {
    CAPTURE(name(method));
    const AdaptSettings settings = settings_of(method);
    std::int64_t budget = plan(kBase16, settings, 100 * kGB).total();
    int pictures = 10, recomputed = 0;
    std::set<int> counts{0};
    while (true) {
      const Result<AdaptPlan> less = plan_adaptation(VitFacts::of(kBase16), settings, 100, budget);
      if (!less.ok()) break;
      CHECK(less.value().micro_batch <= pictures);
      CHECK(less.value().recomputed >= recomputed);
      if (less.value().micro_batch * kBase16.tokens() > 2 * kFewTokens) CHECK(recomputed == 0);
      pictures = less.value().micro_batch;
      recomputed = less.value().recomputed;
      counts.insert(recomputed);
      budget = less.value().total() - 1;
    }
    CHECK(pictures == 1);
    CHECK(recomputed == 10);
    CHECK(counts.size() == 11);
    CHECK(budget < kGB / 2);
    const Status status = plan_adaptation(VitFacts::of(kBase16), settings, 100, kGB / 10).status();
    CHECK(status.code() == Code::out_of_memory);
    CHECK(test::says(status, "and 100 MB are there"));
  }
}

TEST_CASE("adapt plan: what the settings say is taken as it is", "[engine][adapt]") {
  AdaptSettings settings = settings_of(AdaptMethod::vpt);
  settings.micro_batch = 16;
  settings.recomputed_blocks = 4;
  const AdaptPlan asked = plan(kBase16, settings, 100 * kGB);
  CHECK(asked.micro_batch == 16);
  CHECK(asked.recomputed == 4);
  CHECK(test::says(plan_adaptation(VitFacts::of(kBase16), settings, 100, kGB / 2).status(),
                   "leave the micro-batch"));
  settings = settings_of(AdaptMethod::vpt);
  settings.batch = 18;  // in two even parts
  CHECK(plan(kBase16, settings, 100 * kGB).micro_batch == 9);
}

TEST_CASE("adapt plan: a training takes what was planned", "[engine][adapt]") {
  const VitModel model = test::small_vit(test::VitKind::clip);
  const AdaptData data = test::small_task(model.shape, 4, 24, 0);
  for (const AdaptMethod method : kMethods) {
    AdaptSettings settings = test::small_settings(method);
    settings.batch = 12;
    const AdaptTraining training =
        AdaptTraining::create(model, settings, data, kGB, kCpuKernels).value();
    const AdaptPlan& plan = training.plan();
    BufferList list(nullptr);
    const AdaptBuffers buffers(plan.work(VitFacts::of(model), settings),
                               training.parameters().values.size(), 4, list);
    CHECK(plan.arena_bytes == list.bytes());  // and an arena of another size stops the program
    std::int64_t outside = VitFacts::of(model).weight_bytes;
    outside += std::int64_t(4 * training.parameters().values.size());
    outside += std::int64_t{4} * plan.micro_batch * 3 * model.shape.image * model.shape.image;
    CHECK(plan.total() == plan.arena_bytes + outside);
  }
  const Status status =
      AdaptTraining::create(model, test::small_settings(AdaptMethod::ssf), data, 1000, kCpuKernels)
          .status();
  CHECK(status.code() == Code::out_of_memory);
}

}  // namespace engram
