// Operations in sequence on the emulated device: the results of each on its own, one wait, and from the
// second time on a recording that is repeated while the operands are the same.
#include "kernels/staged_sequence.h"

#include <vector>

#include "kernels/kernel_sequence.h"
#include "platform/arena.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"
#include "tests/support/staged_simt.h"

namespace engram {
namespace {

using test::kStagedSimtKernels;
using test::OnSimtDevice;

// quantise > sign_project > activate, with memory of the device in between.
struct Chain {
  explicit Chain(int frames) : frames(frames), f(std::size_t(frames) * 40), h(f.size() * 2) {
    q = arena.take_matrix<std::int8_t>(frames, 40);
    p = arena.take_matrix<std::int32_t>(frames, 80);
    not_finite = arena.take_matrix<std::int32_t>(1, frames);
    words = arena.take<std::uint32_t>(2 * 80);
    for (int i = 0; i < 160; ++i) words[i] = 0x9e3779b9u * unsigned(i + 1);
    show(1);
  }
  void show(int picture) {
    for (std::size_t i = 0; i < f.size(); ++i) f[i] = float((i * 7 + std::size_t(picture)) % 50);
  }
  Status run(const Kernels& kernels, bool to_the_end = true) {
    KernelSequence together(kernels);
    ENGRAM_TRY(kernels.quantise(Stream{}, {f.data(), frames, 40, 40}, 2.0f, q, not_finite));
    ENGRAM_TRY(kernels.sign_project(Stream{}, q, {words, 40, 80}, p));
    ENGRAM_TRY(kernels.activate(Stream{}, p, 4000, 31, {h.data(), frames, 80, 80}));
    return to_the_end ? together.end() : Status();
  }

  int frames;
  Arena arena = Arena::create(1 << 16).value();
  std::vector<float> f, h;  // the device does not reach them
  MatrixView<std::int8_t> q;
  MatrixView<std::int32_t> p, not_finite;
  std::uint32_t* words;
};

std::vector<float> on_cpu(int frames, int picture) {
  Chain chain(frames);
  chain.show(picture);
  REQUIRE(chain.run(kCpuKernels).ok());
  return chain.h;
}

}  // namespace

TEST_CASE("sequence: one wait for all, and the results of each on its own", "[kernels][device]") {
  const std::vector<float> first = on_cpu(3, 1), second = on_cpu(3, 2), one = on_cpu(1, 1);
  const OnSimtDevice on;
  Chain chain(3), other(1);
  const std::size_t waits = simt::device_waits(), recordings = simt::device_recordings();
  REQUIRE(chain.run(kStagedSimtKernels).ok());
  CHECK(chain.h == first);
  CHECK(simt::device_waits() == waits + 2);        // for the work, and for what is copied back
  CHECK(simt::device_recordings() == recordings);  // what loads at its first use is loaded now
  const RecordingFacts before = DeviceStaging::of(simt::kMemory).recordings();

  for (const int picture : {2, 1, 2}) {  // the same sequence on another picture
    chain.show(picture);
    REQUIRE(chain.run(kStagedSimtKernels).ok());
    CHECK(chain.h == (picture == 2 ? second : first));
    CHECK(simt::device_recordings() == recordings + 1);
  }
  const RecordingFacts& after = DeviceStaging::of(simt::kMemory).recordings();
  CHECK(after.failure.ok());
  CHECK(after.recorded == before.recorded + 1);
  CHECK(after.repeated == before.repeated + 3);

  REQUIRE(other.run(kStagedSimtKernels).ok());  // other operands
  CHECK(other.h == one);
  CHECK(simt::device_recordings() == recordings + 1);
  for (int time = 0; time < 2; ++time) {  // both are kept
    other.h.assign(other.h.size(), 0.0f);
    REQUIRE(chain.run(kStagedSimtKernels).ok());
    REQUIRE(other.run(kStagedSimtKernels).ok());
    CHECK(other.h == one);
    CHECK(simt::device_recordings() == recordings + 2);
  }
  CHECK(chain.h == second);
}

TEST_CASE("sequence: a device that cannot record does it step by step", "[kernels][device]") {
  const std::vector<float> first = on_cpu(4, 1), second = on_cpu(4, 2);
  const OnSimtDevice on({.records = false});
  Chain chain(4);  // that no test before has recorded: it may lie where theirs did
  const RecordingFacts before = DeviceStaging::of(simt::kMemory).recordings();
  const std::size_t recordings = simt::device_recordings();
  for (const int picture : {1, 2, 1, 2}) {
    chain.show(picture);
    REQUIRE(chain.run(kStagedSimtKernels).ok());
    CHECK(chain.h == (picture == 2 ? second : first));
  }
  CHECK(simt::device_recordings() == recordings + 1);  // tried once
  const DeviceStaging& staging = DeviceStaging::of(simt::kMemory);
  CHECK(staging.lost().ok());
  CHECK(test::says(staging.recordings().failure, "cudaStreamEndCapture"));
  CHECK(staging.recordings().recorded == before.recorded);
  CHECK(staging.recordings().repeated == before.repeated);
}

TEST_CASE("sequence: what is left early is not done", "[kernels][device]") {
  const OnSimtDevice on;
  Chain chain(2);
  const std::size_t recordings = simt::device_recordings();
  REQUIRE(chain.run(kStagedSimtKernels, /*to_the_end=*/false).ok());
  CHECK(chain.h == std::vector<float>(160));
  CHECK(simt::device_recordings() == recordings);
  REQUIRE(chain.run(kStagedSimtKernels).ok());  // nothing stayed open
  CHECK(chain.h != std::vector<float>(160));
}

TEST_CASE("sequence: a result that the device does not reach is updated in place",
          "[kernels][device]") {
  const OnSimtDevice on;
  Arena arena = Arena::create(4096).value();
  const MatrixView<float> h = arena.take_matrix<float>(2, 8), w = arena.take_matrix<float>(3, 8);
  const MatrixView<std::int8_t> q = arena.take_matrix<std::int8_t>(2, 4);
  for (int i = 0; i < 16; ++i) h.data[i] = 1;
  for (int i = 0; i < 24; ++i) w.data[i] = 2;
  for (int i = 0; i < 8; ++i) q.data[i] = 3;
  std::vector<float> s(6, 99.0f);
  const MatrixView<float> scores{s.data(), 2, 3, 3};
  const Kernels& kernels = kStagedSimtKernels;
  KernelSequence together(kernels);
  REQUIRE(kernels.score(Stream{}, h, w, scores).ok());
  REQUIRE(kernels.feature_score(Stream{}, q, {w.data, 3, 4, 8}, scores).ok());
  REQUIRE(together.end().ok());
  CHECK(s == std::vector<float>(6, 16.0f + 24.0f));
}

TEST_CASE("sequence: a device lost in the middle refuses it and every later one",
          "[kernels][device]") {
  const OnSimtDevice on;
  Chain chain(2);  // a lost device would give it no memory
  simt::device_trial().waits_until_lost = 0;
  const Status lost = chain.run(kStagedSimtKernels);
  CHECK(lost.code() == Code::device_failure);
  CHECK(chain.h == std::vector<float>(160));
  CHECK(chain.run(kStagedSimtKernels).code() == Code::device_failure);
}

}  // namespace engram
