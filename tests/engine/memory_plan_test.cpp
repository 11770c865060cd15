#include "engine/memory_plan.h"

#include <algorithm>
#include <set>

#include "engine/device_plan.h"
#include "engine/projection.h"
#include "engine/statistics.h"
#include "kernels/kernels.h"
#include "platform/arena.h"
#include "platform/device_peaks.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"
#include "tests/support/synthetic.h"

namespace engram {
namespace {

const PlannedBuffer& row(const MemoryPlan& plan, const std::string& name) {
  const auto found = std::find_if(plan.buffers.begin(), plan.buffers.end(),
                                  [&](const PlannedBuffer& b) { return b.name == name; });
  REQUIRE(found != plan.buffers.end());
  return *found;
}

}  // namespace

TEST_CASE("plan: the rows that matter have the right size", "[engine][plan]") {
  LearnerConfig splitting = test::exact_config(1280, 10000);
  splitting.lambda_rule = LambdaRule::paper;
  const MemoryPlan exact = plan(splitting, 100, 1000);
  CHECK(row(exact, "G and its factor").bytes == 400'000'000);
  CHECK(row(exact, "G and its factor").shape == "(10000, 10000) float");
  CHECK(row(exact, "signs W").bytes == 1280 / 8 * 10000);
  CHECK(row(exact, "class sums C").bytes == 128 * 10000 * 4);
  CHECK(row(exact, "readout").bytes == 100 * 10000 * 4);
  CHECK(row(exact, "held-out hidden units").bytes == 200 * 10000 * 4);
  std::int64_t sum = 0;
  std::set<std::string> names;
  for (const PlannedBuffer& buffer : exact.buffers) {
    sum += buffer.bytes;
    CHECK(names.insert(buffer.name).second);
  }
  CHECK(exact.total() ==
        sum - std::min(exact.bytes(Lifetime::end_of_task), exact.bytes(Lifetime::move)));

  const MemoryPlan floating = plan(test::float_config(1280, 10000), 100, 1000);
  CHECK(row(floating, "weights W").bytes == 32 * row(exact, "signs W").bytes);
}

TEST_CASE("plan: the factored form costs what was learned", "[engine][plan]") {
  LearnerConfig config = test::exact_config(768, 10000);
  config.lambda_rule = LambdaRule::loo;
  const MemoryPlan few = plan(config, 100, 1000, 2000);
  CHECK(few.form == Form::factored);
  CHECK(row(few, "samples kept").bytes == 2048 * 768);
  CHECK(row(few, "their hidden units").bytes == 2048 * 10000);
  CHECK(row(few, "kernel matrix and its factor").bytes >= 2000 * 2000 * 4);
  CHECK(few.total() < 60'000'000);
  CHECK(plan(config, 100, 1000, 5000).form == Form::factored);
  CHECK(plan(config, 100, 1000, 5001).form == Form::dense);
  CHECK(plan(config, 100, 1000).form == Form::dense);
  config.keep_features = false;
  CHECK(plan(config, 100, 1000, 0).form == Form::dense);
}

TEST_CASE("plan: rows beside the sums, and the move to them", "[engine][plan]") {
  LearnerConfig config = test::exact_config(1280, 10000);
  const MemoryPlan many = plan(config, 100);
  CHECK(row(many, "samples kept").bytes == 20096 * 1280);  // 20 000 in whole blocks
  CHECK(row(plan(config, 100, 1000, 50000), "samples kept").bytes >= 50000 * 1280);
  // Samples and their hidden units are still there while G is made; the kernel matrix is not.
  CHECK(row(many, "samples and hidden units").bytes == 5120 * (1280 + 10000));
  CHECK(row(many, "samples and hidden units").lifetime == Lifetime::move);
  CHECK(many.bytes(Lifetime::move) > many.bytes(Lifetime::end_of_task));
  config.keep_features = false;
  const MemoryPlan sums = plan(config, 100);
  CHECK(sums.bytes(Lifetime::move) == 0);
  for (const PlannedBuffer& buffer : sums.buffers) CHECK(buffer.name != "samples kept");
  CHECK(many.total() - sums.total() < 100'000'000);
  CHECK(other_readout_bytes(config, 100) > 400'000'000);
  // Of `balanced`: G; C, the means, and what is solved of them, in float and in double; K^2 doubles.
  config.hidden = 100;
  CHECK(other_readout_bytes(config, 1000) > 4 * 100 * 100 + 5 * 1000 * 100 * 4 + 8 * 1000 * 1000);
}

TEST_CASE("plan: the arena has exactly the bytes of its rows", "[engine][plan]") {
  LearnerConfig config = GENERATE(test::exact_config(33, 107), test::float_config(33, 107),
                                  test::float_config(33, 0), test::exact_config(33, 9000));
  config.keep_features = GENERATE(true, false);
  if (!config.keep_features && config.hidden > 1000) return;  // the same rows, 300 MB of them
  const MemoryPlan memory = plan(config, 1);
  Arena arena = std::move(Arena::create(std::size_t(memory.learner_arena_bytes()))).value();
  const Projection projection(config, kCpuKernels, arena);
  ProjectionScratch::take(config, batch_rows(config), arena);
  CHECK(arena.used() == std::size_t(memory.scorer_arena_bytes()));
  ProjectionScratch::take(config, learning_rows(config), arena);
  arena.take<std::int32_t>(kMaxBatchRows);
  const Statistics statistics(config, kCpuKernels, arena);
  CHECK(arena.used() == arena.size());
  CHECK(plan(config, 1, 1000, 10).learner_arena_bytes() == memory.learner_arena_bytes());
}

TEST_CASE("plan: budgets by device and by number", "[engine][plan]") {
  for (const Device& device : devices()) {
    CAPTURE(device.name);
    CHECK(parse_budget(device.name).value() == device.budget);
    CHECK(device.budget > device.memory / 2);
    CHECK(device.budget < device.memory);
    CHECK(published_peaks(device.name).has_value());  // its times are estimated
  }
  CHECK(devices().size() == 8);
  CHECK(parse_budget("3000000000").value() == 3'000'000'000);
  CHECK(parse_budget("512MiB").value() == 512 << 20);
  CHECK(parse_budget("1.5GB").value() == 1'500'000'000);
  for (const char* bad : {"", "GB", "-1", "0", "4 parsecs", "1e99", "nan", "orin"}) {
    CAPTURE(bad);
    CHECK(parse_budget(bad).status().code() == Code::invalid_argument);
  }
}

TEST_CASE("plan: the largest M that fits", "[engine][plan]") {
  LearnerConfig config = test::exact_config(1280, 100);
  for (const std::int64_t budget : {10'000'000LL, 100'000'000LL, 1'000'000'000LL}) {
    const Result<int> hidden = largest_hidden(config, 100, budget);
    REQUIRE(hidden.ok());
    CAPTURE(budget, hidden.value());
    config.hidden = hidden.value();
    CHECK(plan(config, 100).total() <= budget);
    config.hidden += 100;
    CHECK(plan(config, 100).total() > budget);
  }
  const int many = largest_hidden(config, 100, 100'000'000, 1000, 50'000).value();
  CHECK(many < largest_hidden(config, 100, 100'000'000).value());
  config.hidden = many;
  CHECK(plan(config, 100, 1000, 50'000).total() <= 100'000'000);
  CHECK(largest_hidden(config, 100, 1'000'000'000'000LL).value() == 20000);
  for (const bool on_gpu : {false, true}) {  // with the staging memory that a GPU takes
    const auto needed = [&](int hidden) {
      config.hidden = hidden;
      return plan(config, 100).total() + (on_gpu ? staging_bytes(config, 100) : 0);
    };
    const std::int64_t budget = needed(5000);
    const BytesBeside beside = on_gpu ? staging_bytes : nullptr;
    CHECK(largest_hidden(config, 100, budget, 1000, std::nullopt, beside).value() == 5000);
    CHECK(largest_hidden(config, 100, budget - 1, 1000, std::nullopt, beside).value() == 4900);
  }
  config.hidden = 100;
  const std::int64_t plan_alone = plan(config, 100).total();
  CHECK(largest_hidden(config, 100, plan_alone).value() == 100);
  CHECK(
      largest_hidden(config, 100, plan_alone, 1000, std::nullopt, staging_bytes).status().code() ==
      Code::out_of_memory);
  CHECK(largest_hidden(config, 100, 1000).status().code() == Code::out_of_memory);
  CHECK(test::says(largest_hidden(config, 100, 1000).status(), "and 1000 bytes are there"));
  CHECK(test::says(largest_hidden(config, 100, 50'000).status(), "and 50 kB are there"));
}

TEST_CASE("plan: grows with what is learned, in every rule", "[engine][plan]") {
  for (const LambdaRule rule :
       {LambdaRule::fixed, LambdaRule::paper, LambdaRule::code, LambdaRule::loo, LambdaRule::gcv}) {
    LearnerConfig config = test::exact_config(1280, 2000);
    config.lambda_rule = rule;
    CHECK(plan(config, 1000).total() > plan(config, 10).total());
    CHECK(plan(config, 10, 9000).total() >= plan(config, 10, 100).total());
  }
}

}  // namespace engram
