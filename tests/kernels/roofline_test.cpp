// The model of GPU times: hand-made cases, and the marks that our kernels must reach in it.
#include "kernels/roofline.h"

#include <algorithm>
#include <set>
#include <utility>

#include "kernels/kernel_code.h"
#include "kernels/kernel_work.h"
#include "kernels/kernels.h"
#include "tests/support/catch.h"
#include "tools/doctor/kernel_trial_cases.h"

namespace engram {
namespace {

const DevicePeaks& orin_nano() {
  static const DevicePeaks peaks = *published_peaks("orin-nano-8gb");
  return peaks;
}

Estimate estimated(const std::string& operation, const OperationShape& shape) {
  return estimate(kernel_work(operation, shape, orin_nano().cache_bytes), orin_nano());
}

// What a device is tried with, but preprocess: its time depends on the picture.
std::set<std::string> tried_operations() {
  const OperationShape shape{.frames = 2, .features = 8, .units = 8, .tokens = 2, .heads = 1};
  std::set<std::string> names;
  for (const auto& cases :
       {frame_cases(shape), factor_cases(8, 2), training_cases(shape), transformer_cases(shape)}) {
    for (const TrialCase& one : cases) names.insert(one.operation);
  }
  names.erase("preprocess");
  return names;
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
  const auto tensor = std::find_if(busy.all.begin(), busy.all.end(),
                                   [](const Limit& limit) { return limit.name == "tensor"; });
  REQUIRE(tensor != busy.all.end());
  REQUIRE(tensor->seconds == Approx(8e6 / 625e6));
  REQUIRE(busy.seconds >= 8e6 / 625e6);
  work.blocks = 9;  // one SM has two
  REQUIRE(estimate(work, orin_nano()).seconds == Approx(2 * busy.seconds));
}

TEST_CASE("roofline: launches of other kernels come one after the other", "[kernels][roofline]") {
  KernelWork work{.kernel = "sign_project.many_frames<8>",
                  .blocks = 80,
                  .primary = 640,
                  .products = Products::bytes,
                  .operations = 1e9};
  const KernelWork rest{.kernel = "sign_project.one_frame", .blocks = 80, .bytes = 1e9};
  const Estimate first = estimate(work, orin_nano()), second = estimate(rest, orin_nano());
  work.then = {rest};
  const Estimate both = estimate(work, orin_nano());
  REQUIRE(both.seconds == Approx(first.seconds + second.seconds));
  REQUIRE(both.limit_seconds == first.limit_seconds);
  REQUIRE(both.launches == 2);
  REQUIRE(both.kernel == first.kernel);
  REQUIRE(both.binds == "memory");  // as the longer one
  for (std::size_t i = 0; i < both.all.size(); ++i) {
    REQUIRE(both.all[i].seconds == Approx(first.all[i].seconds + second.all[i].seconds));
  }
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
  REQUIRE(names == tried_operations());
  for (const char* target : {"sm_86", "sm_87", "sm_89", "sm_110", "sm_120"}) {
    DevicePeaks device = orin_nano();
    device.target = target;
    for (const std::string& operation : names) {
      for (const int frames : {1, 7, 16, 32, 48, 65, 100, 1000}) {
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
}

// Clocks and buses as published outputs of deviceQuery show them.
TEST_CASE("roofline: a Jetson's memory is that of its data sheet", "[kernels][roofline]") {
  DeviceInfo orin{.name = "Orin", .major = 8, .minor = 7, .multiprocessors = 8};
  orin.is_integrated = true;
  const auto bandwidth = [&orin](const char* board, double memory_clock, int bits, double gib) {
    orin.memory_clock = memory_clock, orin.memory_bus_bits = bits;
    orin.memory_bytes = std::int64_t(gib * (1 << 30));
    const std::optional<DevicePeaks> peaks = reported_peaks(orin, board);
    return peaks ? peaks->memory_bytes : 0;
  };
  const char* const nano = "NVIDIA Jetson Orin Nano Developer Kit";
  CHECK(bandwidth(nano, 624e6, 64, 7.4) == 0);  // says nothing of its clock
  orin.clock = 625e6;
  CHECK(bandwidth(nano, 624e6, 64, 7.4) == 68e9);
  CHECK(bandwidth(nano, 624e6, 64, 3.5) == 34e9);
  orin.multiprocessors = 4;  // a power mode hid the others
  CHECK(bandwidth(nano, 612e6, 128, 7.4) == 68e9);
  CHECK(bandwidth("NVIDIA Orin NX Developer Kit", 612e6, 128, 7.4) == 102.4e9);
  orin.clock = 1020e6;
  CHECK(bandwidth("NVIDIA Jetson Orin Nano Developer Kit Super", 1020e6, 128, 7.4) == 102e9);
  CHECK(bandwidth("NVIDIA Jetson AGX Orin Developer Kit", 612e6, 256, 61.4) == 204.8e9);
  CHECK(bandwidth("a board of somebody", 612e6, 256, 61.4) == 0);
  CHECK(bandwidth("", 2133e6, 128, 7.4) == 0);
  orin.major = 11, orin.minor = 0;
  CHECK(bandwidth("NVIDIA Jetson AGX Thor Developer Kit", 0, 0, 122.8) == 273e9);
  CHECK(bandwidth("NVIDIA Jetson AGX Thor Developer Kit", 4266e6, 256, 122.8) == 273e9);
  orin.minor = 1;  // no code for it
  CHECK(bandwidth("NVIDIA Jetson AGX Thor Developer Kit", 0, 0, 122.8) == 0);
}

TEST_CASE("roofline: a card says how fast its memory is", "[kernels][roofline]") {
  DeviceInfo card{.name = "RTX 3080", .major = 8, .minor = 6, .multiprocessors = 68};
  card.clock = 1710e6;
  CHECK_FALSE(reported_peaks(card, ""));
  card.memory_clock = 9501e6, card.memory_bus_bits = 320;
  CHECK(reported_peaks(card, "")->memory_bytes == Approx(760e9).epsilon(0.01));
}

// Estimates, not times: they change with the text of a kernel or with the compiler.
TEST_CASE("roofline: the marks of batches on an Orin Nano", "[kernels][roofline]") {
  for (const int units : {2000, 5000, 10000, 20000}) {
    for (const int features : {192, 320, 384, 768, 1280}) {
      for (int frames = 16; frames <= 256; ++frames) {
        const OperationShape shape{.frames = frames, .features = features, .units = units};
        const Estimate many = estimated("sign_project", shape),
                       gram = estimated("gram_update", shape);
        CAPTURE(units, features, frames, many.binds, gram.binds);
        CHECK(many.share_of_limit() >= 0.6);
        CHECK(gram.share_of_limit() >= 0.6);
      }
    }
  }
}

TEST_CASE("roofline: the mark of one frame on an Orin Nano", "[kernels][roofline]") {
  // Of the time to read its bits. Shorter rows of W cannot hide what a block does once (kernels/README.md).
  for (const auto& [features, times] :
       {std::pair{192, 2.3}, std::pair{320, 1.4}, std::pair{352, 1.3}, std::pair{384, 1.3},
        std::pair{768, 1.3}, std::pair{1280, 1.3}}) {
    for (const int units : {2000, 3000, 5000, 10000, 20000}) {
      CAPTURE(units, features);
      const double bits = 4.0 * ((features + 31) / 32) * units;
      const Estimate one =
          estimated("sign_project", {.frames = 1, .features = features, .units = units});
      CHECK(one.seconds <= times * bits / orin_nano().memory_bytes);
    }
  }
}

}  // namespace engram
