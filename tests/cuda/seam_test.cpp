// platform/*_cuda.cpp on a GPU that is not there (fake_gpu.h): each call of cuBLAS and cuSOLVER
// against the emulator's, which the tests of kernels/ hold against the definitions.
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "platform/device.h"
#include "platform/device_blas.h"
#include "platform/device_context_cuda.h"
#include "platform/device_memory.h"
#include "platform/device_recording.h"
#include "platform/device_staging.h"
#include "tests/cuda/fake_gpu.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"

namespace engram {
namespace {

using cuda::kMemory;
using test::fake_gpu;
using test::says;

// A matrix with columns to spare, twice: in managed memory, and in the machine's.
struct Twin {
  Twin(int rows, int cols, unsigned seed) : host(std::size_t(rows) * std::size_t(cols + 3)) {
    std::mt19937 random(seed);
    for (float& value : host) value = 0.01f * float(int(random() % 200) - 100);
    bytes = sizeof(float) * host.size() + 4;
    device = static_cast<float*>(kMemory.allocate(bytes).value());
    std::memcpy(device, host.data(), bytes - 4);
    there = {device, rows, cols, cols + 3};
    here = {host.data(), rows, cols, cols + 3};
  }
  ~Twin() { kMemory.release(device, bytes); }
  Twin(const Twin&) = delete;
  void strengthen() {  // a diagonal that makes solves well-conditioned
    for (int i = 0; i < here.rows; ++i) here(i, i) = there(i, i) = 20.0f;
  }
  // With every element that is not of the matrix.
  bool same() const {
    for (std::size_t i = 0; i < host.size(); ++i)
      if (!(std::abs(host[i] - device[i]) <= 1e-4f)) return false;  // NaN is not the same
    return true;
  }

  std::vector<float> host;
  std::size_t bytes;
  float* device;
  MatrixView<float> there, here;
};

}  // namespace

TEST_CASE("cuda: why there is no GPU", "[cuda]") {
  const test::FakeGpu good = fake_gpu();
  const auto why = [] { return std::string(cuda::find_device().status().what()); };
  fake_gpu().driver = 0;
  CHECK(says(why(), "no NVIDIA driver"));
  fake_gpu().driver = 12020;
  CHECK(says(why(), "too old"));
  fake_gpu() = good;
  fake_gpu().devices = 0;
  CHECK(says(why(), "no GPU"));
  fake_gpu() = good;
  fake_gpu().answers = false;
  CHECK(says(why(), "does not answer"));
  fake_gpu() = good;
  fake_gpu().major = 7;
  CHECK(says(why(), "a GPU that is not there"));
  fake_gpu() = good;
  const auto found = cuda::find_device();
  REQUIRE(found.ok());
  CHECK(found.value().is_integrated == good.is_integrated);
  CHECK(found.value().shares_while_running == good.shares_while_running);
}

TEST_CASE("cuda: a GPU without code for it is not chosen", "[cuda]") {
  const test::FakeGpu good = fake_gpu();
  fake_gpu().major = 8;
  fake_gpu().minor = 7;
  CHECK(cuda::choose_device("87-real").value() == 0);
  fake_gpu().minor = 9;
  const Status why = cuda::choose_device("87-real,110-real").status();
  CHECK(why.code() == Code::not_supported);
  CHECK(says(why, "no code for the GPU a GPU that is not there (compute capability 8.9)"));
  CHECK(says(why, "only for 8.7, 11.0"));
  fake_gpu().devices = 2;  // the second is an 8.7
  CHECK(cuda::choose_device("87-real,110-real").value() == 1);
  fake_gpu() = good;
}

TEST_CASE("cuda: memory is zeros, within reach, and refused before it fails", "[cuda]") {
  auto* memory = static_cast<unsigned char*>(kMemory.allocate(1000).value());
  for (int i = 0; i < 1000; ++i) REQUIRE(memory[i] == 0);
  CHECK(kMemory.reaches(memory + 999));
  const std::vector<float> vector(10);
  CHECK(kMemory.reaches(vector.data()) == fake_gpu().reaches_everything);
  kMemory.release(memory, 1000);
  CHECK(kMemory.reaches(memory) == fake_gpu().reaches_everything);
}

TEST_CASE("cuda: the GPU's free memory is what a learner may take", "[cuda]") {
  REQUIRE(kMemory.open().ok());
  const std::size_t all = fake_gpu().memory;
  fake_gpu().memory = 4096;  // the rest holds files, and would be given back
  const std::int64_t free = cuda::find_device()->free_bytes;
  CHECK((free > 4096) == fake_gpu().is_integrated);
  CHECK((kMemory.free_bytes() > 4096) == fake_gpu().is_integrated);
  fake_gpu().memory = all;
}

TEST_CASE("cuda: products", "[cuda]") {
  const bool turn_a = GENERATE(false, true), turn_b = GENERATE(false, true);
  const float beta = GENERATE(0.0f, 1.0f);
  const int m = 5, n = 7, k = GENERATE(1, 4);
  Twin a(turn_a ? k : m, turn_a ? m : k, 1), b(turn_b ? n : k, turn_b ? k : n, 2), c(m, n, 3);
  const Stream stream = kMemory.open().value();
  REQUIRE(
      cuda::blas_multiply(stream, -0.5f, {a.there, turn_a}, {b.there, turn_b}, beta, c.there).ok());
  REQUIRE(kMemory.synchronise(stream).ok());
  REQUIRE(simt::blas_multiply({}, -0.5f, {a.here, turn_a}, {b.here, turn_b}, beta, c.here).ok());
  CHECK(c.same());
}

TEST_CASE("cuda: sums of products into the upper triangle", "[cuda]") {
  Twin a(4, 6, 1), c(6, 6, 2);
  const Stream stream = kMemory.open().value();
  REQUIRE(cuda::blas_add_gram_upper(stream, -1.0f, a.there, c.there).ok());
  REQUIRE(kMemory.synchronise(stream).ok());
  REQUIRE(simt::blas_add_gram_upper({}, -1.0f, a.here, c.here).ok());
  CHECK(c.same());
}

TEST_CASE("cuda: triangular solves, sides in rows or columns", "[cuda]") {
  const bool turned = GENERATE(false, true);
  const Sides sides = GENERATE(Sides::rows, Sides::columns);
  const int size = 6, count = 3;
  Twin u(size, size, 1),
      x(sides == Sides::rows ? count : size, sides == Sides::rows ? size : count, 2);
  u.strengthen();
  const Stream stream = kMemory.open().value();
  REQUIRE(cuda::blas_solve_upper(stream, u.there, turned, sides, x.there).ok());
  REQUIRE(kMemory.synchronise(stream).ok());
  REQUIRE(simt::blas_solve_upper({}, u.here, turned, sides, x.here).ok());
  CHECK(x.same());
  CHECK(u.same());
}

TEST_CASE("cuda: factors, and what has none", "[cuda]") {
  const int size = GENERATE(3, 9, 5);  // the workspace grows once
  const Stream stream = kMemory.open().value();
  for (const bool good : {true, false}) {
    Twin a(size, size, 1);
    a.strengthen();
    if (!good) a.here(2, 2) = a.there(2, 2) = -1.0f;
    int* const verdict = cuda::device_verdict().value();
    REQUIRE(cuda::blas_factor_upper(stream, a.there, verdict).ok());
    const int order = cuda::read_device_verdict(stream).value();
    int wanted = -1;
    REQUIRE(simt::blas_factor_upper({}, a.here, &wanted).ok());
    CHECK(order == wanted);
    CHECK((order == 0) == good);
    CHECK(a.same());
  }
}

TEST_CASE("cuda: operands of a vector are staged", "[cuda]") {
  std::vector<float> host(3 * 10);
  for (int i = 0; i < 30; ++i) host[std::size_t(i)] = float(i);
  Twin one(1, 1, 1);  // before the turn: while its copies are under way the CPU may not touch it
  one.there(0, 0) = 2.0f;
  StagingTurn turn(kMemory);
  REQUIRE(turn.begin().ok());
  auto* there = static_cast<float*>(turn.place(host.data(), 40, 28, 3, true).value());
  const int stride = int(StagingTurn::row_pitch(28) / sizeof(float));
  // there = 2 there: a product with a matrix of one element, column by column.
  REQUIRE(kMemory.reaches(there));
  REQUIRE(cuda::blas_multiply(turn.stream(), 1.0f, {{there, 3, 1, stride}, false},
                              {one.there, false}, 1.0f, {there, 3, 1, stride})
              .ok());
  REQUIRE(turn.end(Status()).ok());
  for (int r = 0; r < 3; ++r) {
    CHECK(host[std::size_t(10 * r)] == 30.0f * float(r));
    for (int c = 1; c < 10; ++c) CHECK(host[std::size_t(10 * r + c)] == float(10 * r + c));
  }
}

TEST_CASE("cuda: the time of the work alone, by events", "[cuda]") {
  DeviceStaging& staging = DeviceStaging::of(kMemory);
  std::vector<float> host(4);
  for (const bool measures : {true, false}) {
    staging.measure(measures);
    const double last = staging.work_seconds();
    StagingTurn turn(kMemory);
    REQUIRE(turn.begin().ok());
    REQUIRE(turn.place(host.data(), 16, 16, 1, true).ok());
    REQUIRE(turn.work_begins().ok());
    REQUIRE(turn.work_ended().ok());
    REQUIRE(turn.end(Status()).ok());
    CHECK(staging.work_seconds() == (measures ? 1e-3 : last));  // from one mark to the next
  }
}

TEST_CASE("cuda: too much memory is refused with figures", "[cuda]") {
  const std::size_t all = fake_gpu().memory;
  const auto refused = kMemory.allocate(std::size_t{1} << 50);
  CHECK(refused.status().code() == Code::out_of_memory);
  CHECK(fake_gpu().memory == all);
}

// There CUDA does not count what the file cache would give back.
TEST_CASE("cuda: where memory is shared, the machine's free memory is the GPU's", "[cuda]") {
  REQUIRE(kMemory.open().ok());
  const std::size_t all = std::exchange(fake_gpu().memory, 1000);
  const std::size_t free = kMemory.free_bytes();
  const Result<void*> managed = kMemory.allocate(5000), shared = kMemory.allocate_shared(5000);
  fake_gpu().memory = all;
  if (fake_gpu().is_integrated) {
    CHECK(free > 1000);
  } else {
    CHECK(free == 1000);
  }
  CHECK(managed.status().code() == Code::out_of_memory);
  CHECK(shared.status().code() == Code::out_of_memory);
  CHECK(DeviceStaging::of(kMemory).lost().ok());
}

TEST_CASE("cuda: a library without memory says so, and the device is not given up", "[cuda]") {
  Twin a(4, 4, 1), c(4, 4, 2);
  a.strengthen();
  const auto run = [&](const std::string& call) {
    StagingTurn turn(kMemory);
    ENGRAM_TRY(turn.begin());
    const Stream stream = turn.stream();
    if (call == "cudaMemsetAsync") return turn.end(kMemory.allocate(10).status());
    if (call == "cublasSgemm") {
      return turn.end(
          cuda::blas_multiply(stream, 1.0f, {a.there, false}, {a.there, false}, 0.0f, c.there));
    }
    ENGRAM_ASSIGN(int* verdict, cuda::device_verdict());
    return turn.end(cuda::blas_factor_upper(stream, a.there, verdict));
  };
  for (const char* call : {"cudaMemsetAsync", "cublasSgemm", "cusolverDnSpotrf"}) {
    fake_gpu().no_memory_in = call;
    const Status refused = run(call);
    fake_gpu().no_memory_in.clear();
    CHECK(refused.code() == Code::out_of_memory);
    CHECK(says(refused, call));
    CHECK(says(refused, "--backend cpu"));
    CHECK(DeviceStaging::of(kMemory).lost().ok());
    CHECK(run("cublasSgemm").ok());
  }
}

// The last: from a lost device nothing comes back.
TEST_CASE("cuda: zz a wrong pointer loses the device, by the call's name", "[cuda]") {
  std::vector<float> host(100, 1.0f);
  const Stream stream = kMemory.open().value();
  // Where the GPU reaches every address, one that is nobody's.
  float* const wrong = fake_gpu().reaches_everything ? nullptr : host.data();
  const MatrixView<float> x{wrong, 10, 10, 10};
  const Status status = cuda::blas_add_gram_upper(stream, 1.0f, x, x);
  CHECK(status.code() == Code::device_failure);
  CHECK(says(status, "cublasSsyrk"));
  CHECK(says(kMemory.synchronise(stream), "cudaStreamSynchronize: unspecified launch failure"));
  CHECK(kMemory.allocate(10).status().code() == Code::device_failure);
  CHECK(says(cuda::kRecordings.begin(stream), "cudaStreamBeginCapture"));
}

}  // namespace engram
