// exact: the same statistics to the bit, whatever the order, the batches and the threads.
#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "engine/learner.h"
#include "platform/threads.h"
#include "tests/support/catch.h"
#include "tests/support/synthetic.h"

namespace engram {
namespace {

using test::exact_config;
using test::make_samples;
using test::Samples;

Learner learned(const LearnerConfig& config, const Samples& samples, int batch) {
  Learner learner = std::move(Learner::create(config)).value();
  for (int first = 0; first < samples.count(); first += batch) {
    const int count = std::min(batch, samples.count() - first);
    REQUIRE(learner.learn(samples.features(first, count), samples.names(first, count)).ok());
  }
  return learner;
}

}  // namespace

TEST_CASE("learner: order, batches and threads do not change a bit", "[engine][learner][order]") {
  const LearnerConfig config = exact_config(70, 333);
  const Samples samples = make_samples(7, 90, 70);
  const Learner reference = learned(config, samples, samples.count());
  std::vector<int> order(std::size_t(samples.count()));
  std::iota(order.begin(), order.end(), 0);

  for (const int threads : {1, 2}) {
    set_thread_count(threads);
    for (const int batch : {1, 7, 48, 256}) {
      std::mt19937 random(unsigned(batch * 10 + threads));
      for (std::size_t i = order.size(); i-- > 1;) std::swap(order[i], order[random() % (i + 1)]);
      CAPTURE(threads, batch);
      const Learner shuffled = learned(config, test::reordered(samples, order), batch);
      CHECK(shuffled.digest() == reference.digest());
      bool same = true;
      for (int r = 0; r < 333; ++r) {
        for (int c = 0; c <= r; ++c) same = same && shuffled.gram(r, c) == reference.gram(r, c);
      }
      const auto classes = shuffled.classes(), expected = reference.classes();
      for (int k = 0; k < 7; ++k) {
        const auto found =
            std::find(expected.begin(), expected.end(), classes[std::size_t(k)]) - expected.begin();
        REQUIRE(found < 7);
        for (int m = 0; m < 333; ++m) {
          same = same && shuffled.class_sum(k, m) == reference.class_sum(int(found), m);
        }
      }
      CHECK(same);
    }
  }
  set_thread_count(0);
}

TEST_CASE("learner: a digest tells differences", "[engine][learner][order]") {
  const Samples samples = make_samples(2, 5, 20);
  const LearnerConfig config = exact_config(20, 100);
  const std::string digest = learned(config, samples, 10).digest();
  CHECK(digest.size() == 66);

  Samples other = samples;
  other.labels[3] = "class 1";
  CHECK(learned(config, other, 10).digest() != digest);
  other = samples;
  for (std::string& label : other.labels) label += "x";
  CHECK(learned(config, other, 10).digest() != digest);
  other = samples;
  other.values[3] += 1.0f;
  CHECK(learned(config, other, 10).digest() != digest);
  LearnerConfig reseeded = config;
  reseeded.seed = 2;
  CHECK(learned(reseeded, samples, 10).digest() != digest);
}

TEST_CASE("learner: says until when sums are exact", "[engine][learner][order]") {
  LearnerConfig config = exact_config(20, 100);
  const Samples samples = make_samples(2, 50, 20);
  const auto fresh = [&](int hidden_max) {
    config.hidden_max = hidden_max;
    return std::move(Learner::create(config)).value();
  };
  // The figures of the design: nothing is known yet, every sample could add hmax^2.
  CHECK(fresh(15).exact_until() == 74565);
  CHECK(fresh(31).exact_until() == 17458);
  CHECK(fresh(63).exact_until() == 4227);

  Learner learner = fresh(255);  // 2^24 / 255^2 = 258.01
  config.hidden_mul = 65536;
  learner = fresh(255);
  std::int64_t last = learner.exact_until();
  CHECK(last == 258);
  CHECK(learner.rounding_note().empty());
  while (learner.samples() < 1000) {
    REQUIRE(learner.learn(samples.features(), samples.labels).ok());
    CHECK(learner.exact_until() >= last);
    last = learner.exact_until();
  }
  float largest = 0;
  for (int m = 0; m < 100; ++m) largest = std::max(largest, learner.gram(m, m));
  REQUIRE(largest > 0x1p24f);
  CHECK(last < 1000);
  CHECK(learner.rounding_note().find(std::to_string(last) + " samples") != std::string::npos);
  CHECK(learner.end_task()->note.find("2^24") != std::string::npos);

  CHECK(std::move(Learner::create(test::float_config(20, 100))).value().exact_until() == 0);
}

}  // namespace engram
