// The model of GPU times: hand-made cases, and the marks that our kernels must reach in it.
#include "kernels/roofline.h"

#include <set>

#include "kernels/kernel_code.h"
#include "kernels/kernel_work.h"
#include "kernels/kernels.h"
#include "tests/support/catch.h"

namespace engram {
namespace {

const DevicePeaks& orin_nano() {
  static const DevicePeaks peaks = *published_peaks("orin-nano-8gb");
  return peaks;
}

Estimate estimated(const std::string& operation, const OperationShape& shape) {
  return estimate(kernel_work(operation, shape, orin_nano().cache_bytes), orin_nano());
}

}  // namespace

TEST_CASE("roofline: a library's estimate is its limit", "[kernels][roofline]") {
  DevicePeaks device = orin_nano();
  device.memory_bytes = 1e9;
  KernelWork work{.products = Products::floats, .least_bytes = 2e9, .operations = 1};
  Estimate memory = estimate(work, device);
  REQUIRE(memory.seconds == 2.0);
  REQUIRE(memory.limit == "memory");
  REQUIRE_FALSE(memory.from_code);
  work.operations = 3 * device.float_operations();
  REQUIRE(estimate(work, device).seconds == Approx(3.0));
  REQUIRE(estimate(work, device).binds == "float");
}

TEST_CASE("roofline: each resource can hold a kernel back", "[kernels][roofline]") {
  KernelWork work{.kernel = "gram_update.gram_update", .blocks = 8, .products = Products::halves};
  const auto binds = [&work] { return estimate(work, orin_nano()).binds; };
  work.bytes = 1e12;
  REQUIRE(binds() == "memory");
  work.bytes = 0, work.cached_bytes = 1e14;
  REQUIRE(binds() == "cache");
  work.cached_bytes = 0, work.chain = 1e9;
  REQUIRE(binds() == "latency");
  work.chain = 0, work.primary = 1e6;
  const Estimate busy = estimate(work, orin_nano());
  // One block per SM, four warps, each with 1e6 tensor instructions of two clocks.
  for (const Limit& limit : busy.all) {
    if (limit.name == "tensor") REQUIRE(limit.seconds == Approx(8e6 / 625e6));
  }
  REQUIRE(busy.seconds >= 8e6 / 625e6);
  work.blocks = 9;  // one SM has two
  REQUIRE(estimate(work, orin_nano()).seconds == Approx(2 * busy.seconds));
}

TEST_CASE("roofline: every operation is estimated on every target", "[kernels][roofline]") {
  const std::set<std::string> names = [] {
    std::set<std::string> all;
    for (const auto& list : {estimated_operations(), estimated_training_operations(),
                             estimated_transformer_operations()}) {
      all.insert(list.begin(), list.end());
    }
    return all;
  }();
  REQUIRE(names.size() == 16 + 11 + 10);  // of kernels.h, but preprocess
  for (const char* target : {"sm_86", "sm_87", "sm_89", "sm_110", "sm_120"}) {
    DevicePeaks device = orin_nano();
    device.target = target;
    for (const std::string& operation : names) {
      for (const int frames : {1, 7, 16, 32, 48, 1000}) {
        CAPTURE(target, operation, frames);
        const KernelWork work =
            kernel_work(operation, {.frames = frames, .units = 3001}, device.cache_bytes);
        REQUIRE((work.kernel.empty() || kernel_code(work.kernel, target) != nullptr));
        const Estimate e = estimate(work, device);
        REQUIRE(e.seconds > 0);
        REQUIRE(e.seconds >= e.limit_seconds * 0.999);
        REQUIRE(e.share_of_limit() <= 1.001);
      }
    }
  }
  REQUIRE(kernel_code("gram_update.no_such_kernel", "sm_87") == nullptr);
}

TEST_CASE("roofline: published peaks are those of the data sheets", "[kernels][roofline]") {
  // Sparse int8 TOPS of the GPU, twice the dense ones.
  for (const auto& [name, tops] :
       {std::pair{"orin-nano-4gb", 20.0}, std::pair{"orin-nano-8gb", 40.0},
        std::pair{"orin-nx-16gb", 60.0}, std::pair{"agx-orin-64gb", 170.0},
        std::pair{"agx-thor-128gb", 1035.0}, std::pair{"rtx-3080-10gb", 476.0},
        std::pair{"rtx-4090-24gb", 1321.0}, std::pair{"rtx-5090-32gb", 1676.0}}) {
    CAPTURE(name);
    REQUIRE(2e-12 * published_peaks(name)->byte_operations() == Approx(tops).epsilon(0.03));
    REQUIRE(kernel_code("gram_update.gram_update", published_peaks(name)->target) != nullptr);
  }
  REQUIRE_FALSE(published_peaks("toaster"));
  DeviceInfo info{.name = "Orin", .major = 8, .minor = 7, .multiprocessors = 8};
  REQUIRE_FALSE(reported_peaks(info));  // says nothing of its clocks
  info.clock = 625e6, info.memory_clock = 2133e6, info.memory_bus_bits = 128;
  REQUIRE(reported_peaks(info)->memory_bytes == Approx(68e9).epsilon(0.01));
  info.minor = 1;  // no code for it
  REQUIRE_FALSE(reported_peaks(info));
}

// Estimates, not times: they change with the text of a kernel or with the compiler.
TEST_CASE("roofline: the marks on an Orin Nano", "[kernels][roofline]") {
  for (const int units : {2000, 5000, 10000, 20000}) {
    for (const int features : {384, 768, 1280}) {
      OperationShape shape{.frames = 1, .features = features, .units = units};
      CAPTURE(units, features);
      const double bits = 4.0 * ((features + 31) / 32) * units;
      const Estimate one = estimated("sign_project", shape);
      CHECK(one.seconds <= 1.3 * bits / orin_nano().memory_bytes);
      for (const int frames : {16, 48, 256}) {
        shape.frames = frames;
        const Estimate many = estimated("sign_project", shape),
                       gram = estimated("gram_update", shape);
        CAPTURE(frames, many.binds, gram.binds);
        CHECK(many.share_of_limit() >= 0.6);
        CHECK(gram.share_of_limit() >= 0.6);
      }
    }
  }
}

}  // namespace engram
