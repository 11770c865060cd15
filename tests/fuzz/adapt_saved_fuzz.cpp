// A saved training of Phase 1: any bytes under the right checksum, and what is restored goes on.
#include "engine/adapt_training.h"
#include "engine/byte_io.h"
#include "kernels/kernels.h"
#include "platform/hash.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/small_task.h"

using namespace engram;

namespace {

struct Case {
  AdaptTraining begin() const {
    return AdaptTraining::create(model, settings, data, 1 << 28, kCpuKernels).value();
  }
  VitModel model = test::small_vit(test::VitKind::plain, 2);
  AdaptData data = test::small_task(model.shape, 2, 6, 2);
  AdaptSettings settings = [] {
    AdaptSettings s = test::small_settings(AdaptMethod::vpt);
    s.epochs = 3;
    s.batch = 2;
    return s;
  }();
};

const Case& the_case() {
  static const Case one;
  return one;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  const std::uint64_t sum = checksum64(as_bytes(bytes));
  bytes.append(reinterpret_cast<const char*>(&sum), sizeof(sum));
  AdaptTraining training = the_case().begin();
  if (!training.restore(bytes).ok()) {
    ENGRAM_CHECK(training.epochs_done() == 0);
    return 0;
  }
  ENGRAM_CHECK(saved_adapt_settings(bytes).ok());
  ENGRAM_CHECK(training.epochs_done() <= the_case().settings.epochs);
  if (!training.done()) (void)training.epoch();  // it may diverge
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  AdaptTraining training = the_case().begin();
  std::vector<std::string> seeds(2);
  training.save(seeds[0]);
  ENGRAM_CHECK(training.epoch().ok());
  ENGRAM_CHECK(training.epoch([](const AdaptStep&) { return false; }).ok());
  training.save(seeds[1]);
  for (std::string& seed : seeds) seed.resize(seed.size() - 8);
  return seeds;
}
