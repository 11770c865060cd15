// Recordings and shared memory of platform/*_cuda.cpp on a GPU that is not there (fake_gpu.h).
#include "platform/device_recording.h"

#include <cstring>
#include <thread>

#include "kernels/staged_call.h"
#include "platform/device_blas.h"
#include "platform/device_memory.h"
#include "tests/cuda/fake_gpu.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"

namespace engram {
namespace {

using cuda::kMemory;
using cuda::kRecordings;
using test::fake_gpu;
using test::says;

struct Numbers {  // a (1, 1) = 3 and c (1, 1) = 0, in shared memory
  Numbers() : values(static_cast<float*>(kMemory.allocate_shared(8).value())) { values[0] = 3; }
  ~Numbers() { kMemory.release_shared(values, 8); }
  Numbers(const Numbers&) = delete;
  Status add_square(Stream stream) const {  // c += a a
    return cuda::blas_add_gram_upper(stream, 1.0f, {values, 1, 1, 1}, {values + 1, 1, 1, 1});
  }
  float* values;
};

Status add_square(Stream stream, MatrixView<const float> a, MatrixView<float> c) {
  return cuda::blas_add_gram_upper(stream, 1.0f, a, c);
}

}  // namespace

TEST_CASE("cuda: what is recorded is done when it is replayed, each time anew", "[cuda]") {
  const Numbers n;
  const Stream stream = kMemory.open().value();
  REQUIRE(kRecordings.begin(stream).ok());
  REQUIRE(n.add_square(stream).ok());
  REQUIRE(n.add_square(stream).ok());
  const auto work = kRecordings.end(stream);
  REQUIRE(work.ok());
  REQUIRE(kMemory.synchronise(stream).ok());
  CHECK(n.values[1] == 0.0f);
  for (const float all : {18.0f, 36.0f}) {
    REQUIRE(kRecordings.replay(stream, work.value()).ok());
    CHECK(n.values[1] != all);  // queued
    REQUIRE(kMemory.synchronise(stream).ok());
    CHECK(n.values[1] == all);
  }
  n.values[0] = 1;  // the addresses are recorded, not what they hold
  REQUIRE(kRecordings.replay(stream, work.value()).ok());
  REQUIRE(kMemory.synchronise(stream).ok());
  CHECK(n.values[1] == 38.0f);
  kRecordings.forget(work.value());
  kRecordings.forget(nullptr);
}

TEST_CASE("cuda: waiting inside of a recording spoils it, and that is said", "[cuda]") {
  const Numbers n;
  const Stream stream = kMemory.open().value();
  REQUIRE(kRecordings.begin(stream).ok());
  REQUIRE(n.add_square(stream).ok());
  CHECK(says(kMemory.synchronise(stream), "cudaStreamSynchronize"));
  const auto work = kRecordings.end(stream);
  CHECK(work.status().code() == Code::device_failure);
  CHECK(says(work.status(), "cudaStreamEndCapture"));
  REQUIRE(kMemory.synchronise(stream).ok());  // the queue is none the worse
  CHECK(n.values[1] == 0.0f);
}

TEST_CASE("cuda: a sequence whose recording finds no memory does without", "[cuda]") {
  using Sequence = StagedSequence<kMemory>;
  const Numbers n;
  const auto run = [&] {
    Sequence::begin();
    ENGRAM_TRY(call_staged<kMemory>(add_square, {n.values, 1, 1, 1}, {n.values + 1, 1, 1, 1}));
    return Sequence::end(/*wanted=*/true);
  };
  const RecordingFacts before = DeviceStaging::of(kMemory).recordings();
  fake_gpu().no_memory_in = "cudaGraphInstantiate";
  for (const float sum : {9.0f, 18.0f, 27.0f}) {
    REQUIRE(run().ok());
    CHECK(n.values[1] == sum);
  }
  fake_gpu().no_memory_in.clear();
  DeviceStaging& staging = DeviceStaging::of(kMemory);
  CHECK(staging.lost().ok());
  CHECK(staging.recordings().failure.code() == Code::out_of_memory);
  CHECK(says(staging.recordings().failure, "cudaGraphInstantiate"));
  CHECK(staging.recordings().repeated == before.repeated);
  staging.try_again();
  for (const float sum : {36.0f, 45.0f}) {  // recorded, and replayed
    REQUIRE(run().ok());
    CHECK(n.values[1] == sum);
  }
  CHECK(staging.recordings().failure.ok());
  CHECK(staging.recordings().recorded == before.recorded + 1);
  CHECK(staging.recordings().repeated == before.repeated + 2);
}

TEST_CASE("cuda: memory that another thread takes meanwhile is not recorded", "[cuda]") {
  const Numbers n;
  const Stream stream = kMemory.open().value();
  REQUIRE(kRecordings.begin(stream).ok());
  REQUIRE(n.add_square(stream).ok());
  Result<void*> taken = Status(Code::internal, "not tried");
  std::thread([&] { taken = kMemory.allocate(100); }).join();
  const auto work = kRecordings.end(stream);
  REQUIRE(work.ok());
  REQUIRE(taken.ok());
  auto* const memory = static_cast<char*>(taken.value());
  CHECK(memory[99] == 0);
  memory[99] = 7;
  REQUIRE(kRecordings.replay(stream, work.value()).ok());
  REQUIRE(kMemory.synchronise(stream).ok());
  CHECK(n.values[1] == 9.0f);
  CHECK(memory[99] == 7);
  kRecordings.forget(work.value());
  kMemory.release(memory, 100);
}

TEST_CASE("cuda: memory that cannot be cleared is given back", "[cuda]") {
  REQUIRE(kMemory.open().ok());
  const int before = fake_gpu().blocks;
  fake_gpu().no_memory_in = "cudaMemsetAsync";
  CHECK_FALSE(kMemory.allocate(100).ok());
  fake_gpu().no_memory_in.clear();
  CHECK(fake_gpu().blocks == before);
}

TEST_CASE("cuda: shared memory may be touched while work is queued", "[cuda]") {
  REQUIRE(kMemory.open().ok());
  CHECK(kMemory.shares_while_running() == fake_gpu().shares_while_running);
  const int before = fake_gpu().blocks;
  {
    const Numbers given_back;
    CHECK(fake_gpu().blocks == before + 1);
  }
  CHECK(fake_gpu().blocks == before);
  const Numbers n;
  CHECK(test::is_managed(n.values) == fake_gpu().shares_while_running);  // else the CPU's, mapped
  CHECK(kMemory.reaches(n.values + 1));
  const Stream stream = kMemory.open().value();
  REQUIRE(n.add_square(stream).ok());
  n.values[0] = 4;
  REQUIRE(kMemory.synchronise(stream).ok());
  CHECK(n.values[1] == 16.0f);
}

TEST_CASE("cuda: room for factors is taken once", "[cuda]") {
  auto* const a = static_cast<float*>(kMemory.allocate(4 * 300 * 300).value());
  for (int i = 0; i < 300; ++i) a[301 * i] = 2.0f;
  REQUIRE(kMemory.reserve_factor(300).ok());
  const int before = fake_gpu().allocations;
  REQUIRE(kMemory.reserve_factor(20).ok());
  const Stream stream = kMemory.open().value();
  int* const verdict = cuda::device_verdict().value();
  REQUIRE(cuda::blas_factor_upper(stream, {a, 300, 300, 300}, verdict).ok());
  CHECK(cuda::read_device_verdict(stream).value() == 0);
  CHECK(fake_gpu().allocations == before);
  kMemory.release(a, 4 * 300 * 300);
}

}  // namespace engram
