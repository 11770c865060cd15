// Kept samples and their kernel matrix: growth, removal, and what they hold.
#include "engine/kept_samples.h"

#include <random>
#include <set>
#include <vector>

#include "engine/kernel_matrix.h"
#include "kernels/kernels.h"
#include "tests/support/catch.h"
#include "tests/support/synthetic.h"

namespace engram {
namespace {

constexpr int kFeatures = 5, kUnits = 100;

struct Sample {
  std::vector<std::byte> row;
  std::vector<float> h;
  std::int32_t klass;
  std::int64_t id;
};

Sample draw(std::mt19937& random, std::size_t row_bytes, std::int64_t id) {
  Sample sample;
  for (std::size_t i = 0; i < row_bytes; ++i) sample.row.push_back(std::byte(random() % 100));
  for (int m = 0; m < kUnits; ++m) sample.h.push_back(float(random() % 32));
  sample.klass = std::int32_t(random() % 7);
  sample.id = id;
  return sample;
}

void append(KeptSamples& kept, const Sample& sample) {
  REQUIRE(kept.reserve(std::size_t(kept.size()) + 1).ok());
  kept.append(sample.row.data(), {sample.h.data(), 1, kUnits, kUnits}, {&sample.klass, 1},
              sample.id);
}

bool same(const KeptSamples& kept, int index, const Sample& sample) {
  const KeptView hidden = kept.block_hidden(index / KeptSamples::kBlockRows);
  bool equal = kept.classes()[std::size_t(index)] == sample.klass &&
               kept.ids()[std::size_t(index)] == sample.id &&
               std::equal(sample.row.begin(), sample.row.end(), kept.row(index));
  for (int m = 0; m < kUnits; ++m) {
    equal = equal && hidden.at(index % KeptSamples::kBlockRows, m) == sample.h[std::size_t(m)];
  }
  return equal;
}

float product(const Sample& a, const Sample& b) {
  float sum = 0;
  for (int m = 0; m < kUnits; ++m) sum += a.h[std::size_t(m)] * b.h[std::size_t(m)];
  return sum;
}

}  // namespace

TEST_CASE("kept samples: what is appended, relabelled and removed is what is there",
          "[engine][kept]") {
  const LearnerConfig config =
      GENERATE(test::exact_config(kFeatures, kUnits), test::float_config(kFeatures, kUnits));
  std::mt19937 random(4);
  KeptSamples kept(config, true);
  KernelMatrix kernel;
  std::vector<Sample> expected;
  std::int64_t id = 0;
  for (int round = 0; round < 60; ++round) {
    const int more = int(random() % 20);
    for (int i = 0; i < more; ++i) {
      expected.push_back(draw(random, kept.row_bytes(), id++));
      append(kept, expected.back());
    }
    REQUIRE(kernel.reserve(kept.size()).ok());
    REQUIRE(kernel.append(kCpuKernels, kept).ok());
    if (round % 4 == 3) {
      std::set<int> gone;
      for (int i = 0; i < 9; ++i) gone.insert(int(random() % expected.size()));
      const std::vector<int> indices(gone.begin(), gone.end());
      kept.remove(indices);
      kernel.remove(indices);
      for (auto it = gone.rbegin(); it != gone.rend(); ++it) expected.erase(expected.begin() + *it);
      kept.relabel(0, 6);
      expected[0].klass = 6;
    }
    REQUIRE(kept.size() == int(expected.size()));
    REQUIRE(kernel.size() == kept.size());
  }
  REQUIRE(kept.size() > 3 * KeptSamples::kBlockRows);
  bool all = true, products = true;
  for (int n = 0; n < kept.size(); ++n) {
    all = all && same(kept, n, expected[std::size_t(n)]);
    for (int c = 0; c <= n; ++c) {
      products = products && kernel.view().gram(n, c) ==
                                 product(expected[std::size_t(n)], expected[std::size_t(c)]);
    }
  }
  CHECK(all);
  CHECK(products);
}

TEST_CASE("kept samples: growth keeps the factor", "[engine][kept]") {
  std::mt19937 random(5);
  KeptSamples kept(test::exact_config(kFeatures, kUnits), true);
  KernelMatrix kernel;
  for (int n = 0; n < 50; ++n) append(kept, draw(random, kept.row_bytes(), n));
  REQUIRE(kernel.reserve(50).ok());
  REQUIRE(kernel.append(kCpuKernels, kept).ok());
  REQUIRE(kCpuKernels.cholesky(Stream{}, 100.0f, {}, kernel.view()).ok());
  std::vector<float> before;
  for (int r = 0; r < 50; ++r)
    before.insert(before.end(), kernel.view().row(r), kernel.view().row(r) + 50);
  for (int n = 50; n < 400; ++n) append(kept, draw(random, kept.row_bytes(), n));
  REQUIRE(kernel.reserve(400).ok());
  REQUIRE(kernel.append(kCpuKernels, kept).ok());
  std::vector<float> after;
  for (int r = 0; r < 50; ++r)
    after.insert(after.end(), kernel.view().row(r), kernel.view().row(r) + 50);
  CHECK(before == after);
}

TEST_CASE("kept samples: room that is refused changes nothing", "[engine][kept]") {
  std::mt19937 random(7);
  KeptSamples kept(test::exact_config(kFeatures, kUnits), true);
  KernelMatrix kernel;
  const Sample sample = draw(random, kept.row_bytes(), 0);
  append(kept, sample);
  REQUIRE(kernel.reserve(1).ok());
  REQUIRE(kernel.append(kCpuKernels, kept).ok());
  // 2^62 bytes: no machine has them.
  CHECK(kernel.reserve(1 << 30).code() == Code::out_of_memory);
  CHECK(kernel.size() == 1);
  CHECK(kernel.view().gram(0, 0) == product(sample, sample));
}

}  // namespace engram
