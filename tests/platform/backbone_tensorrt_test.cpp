#include "platform/backbone_tensorrt.h"

#include <algorithm>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/fake_cuda_driver.h"
#include "tests/support/says.h"
#include "tests/support/temp_directory.h"

using namespace engram;
using namespace engram::test;

namespace {

Result<std::unique_ptr<Backbone>> opened(const CudaDriver& driver, bool fixed = false) {
  const auto gpu = find_gpu(driver);
  REQUIRE(gpu.ok());
  return GpuBackbone::create(driver, gpu.value(), std::make_unique<FakeNetwork>(fixed));
}

// Picture p is p + 1 all over.
std::vector<float> pictures(int count) {
  std::vector<float> values;
  for (int p = 0; p < count; ++p) values.insert(values.end(), 12, float(p + 1));
  return values;
}

}  // namespace

TEST_CASE("a GPU is found, or a sentence says why not", "[platform][tensorrt]") {
  const CudaDriver driver = fake_cuda_driver();
  FakeDriverState& state = fake_driver_state();
  const auto gpu = find_gpu(driver);
  REQUIRE(gpu.ok());
  CHECK(gpu.value().name == "Orin, compute 8.7");
  CHECK_FALSE(gpu.value().shares_memory);
  CHECK(gpu.value().driver == 12060);
  CHECK(gpu.value().multiprocessors == 8);
  state.multiprocessors = 4;  // another power mode
  CHECK(find_gpu(driver).value().multiprocessors == 4);

  const auto refused = [&](const char* words) {
    const Status status = find_gpu(driver).status();
    INFO(status.what());
    return status.code() == Code::not_supported && says(status, words);
  };
  state.devices = 0;
  CHECK(refused("no NVIDIA GPU"));
  state.devices = 1;
  state.version = 11040;
  CHECK(refused("too old: it knows CUDA 11.4"));
  state.version = 12060;
  state.fail_call = "cuInit";
  state.fail_with = 100;
  CHECK(refused("no NVIDIA GPU"));
  state.fail_with = 999;
  CHECK(refused("driver does not work: cuInit failed: CUDA_ERROR_UNKNOWN (999)"));
  for (const char* call : {"cuDriverGetVersion", "cuDeviceGetCount", "cuDeviceGet",
                           "cuDeviceGetName", "cuDeviceGetAttribute"}) {
    state.fail_call = call;
    CHECK(says(find_gpu(driver).status(), call));
  }
  CHECK(says(load_cuda_driver("libengram-no-such-driver.so.1").status(), "no NVIDIA driver"));
  CHECK(says(load_cuda_driver("libengram-no-such-driver.so.1").status(), "No such file"));
  CHECK(says(load_cuda_driver("libm.so.6").status(), "not a driver"));
}

TEST_CASE("a driver that is there and does not load: the loader's reason is told",
          "[platform][tensorrt]") {
  const test::TempDirectory folder;
  const std::string file = folder / "libcuda.so.1";
  std::ofstream(file) << std::string(4096, 'x');
  const Status refused = load_cuda_driver(file.c_str()).status();
  CHECK(refused.code() == Code::not_supported);
  CHECK(says(refused, file));
  CHECK(says(refused, "ELF"));
}

TEST_CASE("the backbone takes the GPU that the learner takes", "[platform][tensorrt]") {
  const CudaDriver driver = fake_cuda_driver();
  fake_driver_state().devices = 2;
  CHECK(find_gpu(driver, "87-real").value().device == 0);
  fake_driver_state().first_minor = 9;
  CHECK(find_gpu(driver, "87-real").value().device == 1);
  CHECK(find_gpu(driver, "86").value().device == 0);
  CHECK(find_gpu(driver, "110-real").value().device == 0);  // the learner is on the CPU
  CHECK(find_gpu(driver, "").value().device == 0);          // without CUDA
}

TEST_CASE("pictures go to the GPU in batches and features come back", "[platform][tensorrt]") {
  const bool fixed = GENERATE(false, true), integrated = GENERATE(false, true);
  const CudaDriver driver = fake_cuda_driver();
  FakeDriverState& state = fake_driver_state();
  state.integrated = integrated;
  {
    auto backbone = opened(driver, fixed);
    REQUIRE(backbone.ok());
    for (const int count : {0, 1, 4, 5, 9}) {
      state.uploads = state.downloads = 0;
      const std::vector<float> inputs = pictures(count);
      std::vector<float> features(static_cast<std::size_t>(3 * count), -1);  // rows of stride 3
      REQUIRE(
          (*backbone)->run({inputs.data(), count, 12, 12}, {features.data(), count, 2, 3}).ok());
      for (int p = 0; p < count; ++p) {
        const auto at = static_cast<std::size_t>(3 * p);
        CHECK(features[at] == 12.0f * float(p + 1));
        CHECK(features[at + 1] == (fixed ? 4.0f : float(std::min(4, count - p / 4 * 4))));
        CHECK(features[at + 2] == -1);
      }
      const int parts = (count + 3) / 4;
      CHECK(state.uploads == (integrated ? 0 : parts));  // shared memory is not copied
      CHECK(state.downloads == (integrated ? 0 : parts));
    }
    CHECK(state.live > 0);
  }
  CHECK(state.live == 0);
}

// As on a Thor, and on a card: platform/device_memory_cuda.cpp, allocate_shared.
TEST_CASE("managed memory is used as it is, on every GPU", "[platform][tensorrt]") {
  const bool managed_in = GENERATE(false, true), managed_out = GENERATE(false, true);
  const bool integrated = GENERATE(false, true);
  const CudaDriver driver = fake_cuda_driver();
  FakeDriverState& state = fake_driver_state();
  state.integrated = integrated;
  auto backbone = opened(driver).value();
  float *const inputs = take_managed(3 * 12 * sizeof(float)), *const features = take_managed(
                                                                  3 * 2 * sizeof(float));
  const std::vector<float> shown = pictures(3);
  std::copy(shown.begin(), shown.end(), inputs);
  std::vector<float> own(6);
  float* const to = managed_out ? features : own.data();
  REQUIRE(backbone->run({managed_in ? inputs : shown.data(), 3, 12, 12}, {to, 3, 2, 2}).ok());
  for (int p = 0; p < 3; ++p) CHECK(to[2 * p] == 12.0f * float(p + 1));
  CHECK((state.inputs == reinterpret_cast<DeviceAddress>(inputs)) == managed_in);
  CHECK((state.features == reinterpret_cast<DeviceAddress>(features)) == managed_out);
  CHECK(state.uploads == (integrated || managed_in ? 0 : 1));
  CHECK(state.downloads == (integrated || managed_out ? 0 : 1));
  release_managed(inputs);
  release_managed(features);
}

TEST_CASE("memory that is mapped for the GPU is used as it is where both share memory",
          "[platform][tensorrt]") {
  const bool fixed = GENERATE(false, true), integrated = GENERATE(false, true);
  const int count = GENERATE(1, 4);
  const CudaDriver driver = fake_cuda_driver();
  FakeDriverState& state = fake_driver_state();
  state.integrated = integrated;
  auto backbone = opened(driver, fixed).value();
  void *in = nullptr, *out = nullptr;
  REQUIRE(driver.host_allocate(&in, 4 * 12 * sizeof(float), 2) == 0);
  REQUIRE(driver.host_allocate(&out, 4 * 2 * sizeof(float), 2) == 0);
  auto *inputs = static_cast<float*>(in), *features = static_cast<float*>(out);
  const std::vector<float> shown = pictures(4);
  std::copy(shown.begin(), shown.end(), inputs);
  std::fill_n(features, 8, -1.0f);
  REQUIRE(backbone->run({inputs, count, 12, 12}, {features, count, 2, 2}).ok());
  for (int p = 0; p < count; ++p) CHECK(features[2 * p] == 12.0f * float(p + 1));
  for (int i = 2 * count; i < 8; ++i) CHECK(features[i] == -1.0f);
  // A network of a fixed batch writes all of it.
  const bool direct = integrated && (!fixed || count == 4);
  CHECK((state.inputs == reinterpret_cast<DeviceAddress>(in)) == direct);
  CHECK((state.features == reinterpret_cast<DeviceAddress>(out)) == direct);
  driver.host_free(in);
  driver.host_free(out);
}

TEST_CASE("memory that does not begin where TensorRT can read it goes by way of ours",
          "[platform][tensorrt]") {
  const CudaDriver driver = fake_cuda_driver();
  fake_driver_state().integrated = true;
  auto backbone = opened(driver).value();
  void *in = nullptr, *out = nullptr;
  REQUIRE(driver.host_allocate(&in, 5 * 12 * sizeof(float), 2) == 0);
  REQUIRE(driver.host_allocate(&out, 5 * 2 * sizeof(float), 2) == 0);
  auto *inputs = static_cast<float*>(in), *features = static_cast<float*>(out);
  const std::vector<float> shown = pictures(5);
  std::copy(shown.begin(), shown.end(), inputs);
  // The fifth picture is a batch of its own, in the middle of both.
  REQUIRE(backbone->run({inputs, 5, 12, 12}, {features, 5, 2, 2}).ok());
  for (int p = 0; p < 5; ++p) CHECK(features[2 * p] == 12.0f * float(p + 1));
  driver.host_free(in);
  driver.host_free(out);
}

TEST_CASE("every call that fails is told by its name, and nothing is kept",
          "[platform][tensorrt]") {
  struct Fault {
    const char* call;
    int after;
  };
  for (const Fault fault :
       {Fault{"cuDevicePrimaryCtxRetain", 0}, Fault{"cuCtxSetCurrent", 0},
        Fault{"cuStreamCreate", 0}, Fault{"cuMemHostAlloc", 0}, Fault{"cuMemHostAlloc", 1},
        Fault{"cuMemAlloc", 0}, Fault{"cuMemAlloc", 1}}) {
    const CudaDriver driver = fake_cuda_driver();
    FakeDriverState& state = fake_driver_state();
    state.fail_call = fault.call;
    state.fail_with = 2;
    state.fail_after = fault.after;
    const auto backbone = opened(driver);
    REQUIRE_FALSE(backbone.ok());
    INFO(backbone.status().what());
    CHECK(backbone.status().code() == Code::out_of_memory);
    CHECK(says(backbone.status(), fault.call));
    CHECK(state.live == 0);
  }
  for (const char* call : {"cuCtxSetCurrent", "cuMemcpyHtoDAsync", "enqueue", "cuMemcpyDtoHAsync",
                           "cuStreamSynchronize"}) {
    const CudaDriver driver = fake_cuda_driver();
    FakeDriverState& state = fake_driver_state();
    auto backbone = opened(driver);
    REQUIRE(backbone.ok());
    state.fail_call = call;
    state.fail_with = 700;
    const std::vector<float> inputs = pictures(2);
    std::vector<float> features(4);
    const Status done = (*backbone)->run({inputs.data(), 2, 12, 12}, {features.data(), 2, 2, 2});
    CHECK(done.code() == Code::device_failure);
    CHECK_FALSE(state.is_working);  // whoever has the device next finds it idle
    state.fail_call.clear();        // it came back
    CHECK((*backbone)->run({inputs.data(), 2, 12, 12}, {features.data(), 2, 2, 2}).ok());
    backbone->reset();
    CHECK(state.live == 0);
  }
}
