// exact: the same statistics to the bit on every machine. The digests below were written down once,
// on x86_64 with AVX2; every other processor, SIMD or not, must come to the same. (The features are
// the same as well: with noise of a half, a power of two, a fused multiply-add rounds nothing else.)
#include <algorithm>
#include <string>
#include <vector>

#include "engine/learner.h"
#include "tests/support/catch.h"
#include "tests/support/kernel_paths.h"
#include "tests/support/synthetic.h"

namespace engram {
namespace {

struct Golden {
  int features, hidden;  // L, M: neither a multiple of any tile in the first two
  int classes, per_class;
  const char* digest;
};

constexpr Golden kGolden[] = {
    {70, 333, 7, 30, "2-7033f22c13a13fa4bdb091e7887e3b317f035a101b7766abb581d2a1a7d65281"},
    {1283, 517, 3, 8, "2-1390ffb1c0178796e0f3978fe35d5202daa335e3118703ceb4dcf45b2501d13c"},
    {384, 2000, 4, 16, "2-2a1dbd11da605aaac42b556f4791e5381b36ca78e9c50c1d667b3163f68acb2a"},
};

std::string digest_of(const Golden& golden, bool keep_features, int batch) {
  LearnerConfig config = test::exact_config(golden.features, golden.hidden);
  config.keep_features = keep_features;
  Learner learner = std::move(Learner::create(config)).value();
  const test::Samples samples =
      test::make_samples(golden.classes, golden.per_class, golden.features);
  for (int first = 0; first < samples.count(); first += batch) {
    const int count = std::min(batch, samples.count() - first);
    REQUIRE(learner.learn(samples.features(first, count), samples.names(first, count)).ok());
  }
  return learner.digest();
}

}  // namespace

TEST_CASE("learner: the digest is the same on every machine", "[engine][learner][golden]") {
  for (const test::Path path : test::kernel_paths()) {
    const test::OnPath on_path(path);
    for (const Golden& golden : kGolden) {
      for (const int batch : path.threads == 1 ? std::vector{1, 64} : std::vector{11}) {
        CAPTURE(name(path.simd), path.threads, golden.features, golden.hidden, batch);
        CHECK(digest_of(golden, /*keep_features=*/true, batch) == golden.digest);
        CHECK(digest_of(golden, /*keep_features=*/false, batch) == golden.digest);
      }
    }
  }
}

}  // namespace engram
