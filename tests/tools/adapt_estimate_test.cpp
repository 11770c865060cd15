#include "tools/adapt/adapt_estimate.h"

#include <algorithm>

#include "tests/support/catch.h"
#include "tests/support/small_vit.h"

using namespace engram;
using namespace engram::test;

namespace {

constexpr std::int64_t kMemory = std::int64_t{1} << 30;

AdaptEstimate estimated(AdaptSettings settings, const char* device = "orin-nano-8gb") {
  const VitModel model = small_vit(small_shape(), true, false, false);
  auto estimate = estimate_adaptation(model, settings, 3, kMemory, published_peaks(device).value());
  INFO(estimate.status().what());
  REQUIRE(estimate.ok());
  return *estimate;
}

int calls(const AdaptEstimate& estimate, const std::string& name) {
  for (const auto& operation : estimate.operations) {
    if (operation.name == name) return operation.calls;
  }
  return 0;
}

}  // namespace

TEST_CASE("adapt estimate: counts what a step of each method does", "[tools][adapt_estimate]") {
  const int blocks = small_shape().blocks;
  for (const AdaptMethod method : {AdaptMethod::adaptformer, AdaptMethod::ssf, AdaptMethod::vpt}) {
    CAPTURE(name(method));
    const AdaptEstimate estimate = estimated({.method = method, .batch = 4, .micro_batch = 4});
    CHECK(calls(estimate, "attention") == blocks);
    CHECK(calls(estimate, "sgd_step") == 1);
    CHECK(calls(estimate, "cross_entropy") == 1);
    CHECK((calls(estimate, "sum_tokens") == blocks) == (method == AdaptMethod::vpt));
    CHECK((calls(estimate, "dropout") > 0) == (method == AdaptMethod::adaptformer));
    CHECK((calls(estimate, "scale_shift_back") > 0) == (method == AdaptMethod::ssf));
    CHECK(estimate.step_seconds() > 0);
    CHECK(std::is_sorted(estimate.operations.begin(), estimate.operations.end(),
                         [](const auto& a, const auto& b) { return a.seconds > b.seconds; }));
  }
}

TEST_CASE("adapt estimate: micro-batches repeat the work, a larger GPU is faster",
          "[tools][adapt_estimate]") {
  const AdaptEstimate whole = estimated({.batch = 4, .micro_batch = 4});
  const AdaptEstimate pieces = estimated({.batch = 4, .micro_batch = 1});
  CHECK(calls(pieces, "attention") == 4 * calls(whole, "attention"));
  CHECK(calls(pieces, "sgd_step") == 1);
  const AdaptEstimate larger = estimated({.batch = 4, .micro_batch = 4}, "agx-orin-64gb");
  CHECK(larger.step_seconds() < whole.step_seconds());
}
