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
    {70, 333, 7, 30, "3-fb068dad36a10089c000f5ec727eccf0b4b55285408376cf369686adebaea1dd"},
    {1283, 517, 3, 8, "3-ad7b647935ae23aad0cf86339cfc26886de5f7d917c724db32bf215375eabd1c"},
    {384, 2000, 4, 16, "3-1f29d5d2b9e809dc3a19233de0a9f279fc7d2e8a4b8038d1ef546349ca5af22c"},
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
