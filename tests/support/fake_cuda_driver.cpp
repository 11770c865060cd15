#include "tests/support/fake_cuda_driver.h"

#include <cstdlib>
#include <cstring>
#include <utility>

namespace engram::test {

namespace {

int result(const char* call) {
  FakeDriverState& state = fake_driver_state();
  if (state.fail_call != call) return 0;
  return state.fail_after-- > 0 ? 0 : state.fail_with;
}

// Counts what is taken; a call that fails takes nothing.
int take(const char* call, int change) {
  const int code = result(call);
  if (code == 0) fake_driver_state().live += change;
  return code;
}

DeviceAddress address(void* memory) {
  return reinterpret_cast<DeviceAddress>(memory);
}

// Aligned as the driver's is.
void* memory_of(std::size_t bytes) {
  return std::aligned_alloc(256, (bytes + 255) / 256 * 256);
}
bool holds(const std::map<DeviceAddress, std::size_t>& blocks, DeviceAddress memory) {
  auto after = blocks.upper_bound(memory);
  if (after == blocks.begin()) return false;
  --after;
  return memory - after->first < after->second;
}

int token = 0;  // what contexts and streams point to

using Graph = std::vector<std::function<void()>>;

}  // namespace

FakeDriverState& fake_driver_state() {
  static FakeDriverState state;
  return state;
}

CudaDriver fake_cuda_driver() {
  fake_driver_state() = {};
  CudaDriver driver;
  driver.init = [](unsigned) { return result("cuInit"); };
  driver.driver_version = [](int* version) {
    *version = fake_driver_state().version;
    return result("cuDriverGetVersion");
  };
  driver.device_count = [](int* count) {
    *count = fake_driver_state().devices;
    return result("cuDeviceGetCount");
  };
  driver.device_get = [](int* device, int ordinal) {
    *device = ordinal;
    return result("cuDeviceGet");
  };
  driver.device_name = [](char* name, int, int) {
    std::strcpy(name, "Orin");
    return result("cuDeviceGetName");
  };
  driver.device_attribute = [](int* value, int attribute, int device) {
    const FakeDriverState& state = fake_driver_state();
    if (attribute == 16) *value = state.multiprocessors;
    if (attribute == 18) *value = int(state.integrated);
    if (attribute == 75) *value = 8;
    if (attribute == 76) *value = device == 0 ? state.first_minor : 7;
    return result("cuDeviceGetAttribute");
  };
  driver.context_retain = [](void** context, int) {
    *context = &token;
    return take("cuDevicePrimaryCtxRetain", 1);
  };
  driver.context_release = [](int) { return take("release", -1); };
  driver.context_set = [](void*) { return result("cuCtxSetCurrent"); };
  driver.stream_create = [](void** stream, unsigned) {
    const int code = take("cuStreamCreate", 1);
    if (code == 0) *stream = &token;
    return code;
  };
  driver.stream_destroy = [](void*) { return take("destroy", -1); };
  driver.stream_synchronize = [](void*) {
    fake_driver_state().is_working = false;
    return result("cuStreamSynchronize");
  };
  driver.device_allocate = [](DeviceAddress* memory, std::size_t bytes) {
    const int code = take("cuMemAlloc", 1);
    if (code == 0) *memory = address(memory_of(bytes));
    return code;
  };
  driver.device_free = [](DeviceAddress memory) {
    std::free(reinterpret_cast<void*>(memory));
    return take("free", -1);
  };
  driver.host_allocate = [](void** memory, std::size_t bytes, unsigned) {
    const int code = take("cuMemHostAlloc", 1);
    if (code != 0) return code;
    *memory = memory_of(bytes);
    fake_driver_state().mapped[address(*memory)] = bytes;
    return code;
  };
  driver.host_free = [](void* memory) {
    fake_driver_state().mapped.erase(address(memory));
    std::free(memory);
    return take("host free", -1);
  };
  driver.host_address = [](DeviceAddress* device, void* memory, unsigned) {
    // CUDA_ERROR_INVALID_VALUE, of managed memory too: that is not mapped.
    if (!holds(fake_driver_state().mapped, address(memory))) return 1;
    *device = address(memory);
    return result("cuMemHostGetDevicePointer");
  };
  driver.pointer_attribute = [](void* value, int attribute, DeviceAddress memory) {
    const FakeDriverState& state = fake_driver_state();
    const bool is_managed = holds(state.managed, memory);
    if (!is_managed && !holds(state.mapped, memory)) return 1;  // CUDA_ERROR_INVALID_VALUE
    if (attribute == 3) *static_cast<DeviceAddress*>(value) = memory;
    if (attribute == 8) *static_cast<unsigned*>(value) = is_managed;
    return result("cuPointerGetAttribute");
  };
  driver.upload = [](DeviceAddress to, const void* from, std::size_t bytes, void*) {
    ++fake_driver_state().uploads;
    fake_driver_state().is_working = true;
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    return result("cuMemcpyHtoDAsync");
  };
  driver.download = [](void* to, DeviceAddress from, std::size_t bytes, void*) {
    ++fake_driver_state().downloads;
    std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
    return result("cuMemcpyDtoHAsync");
  };
  driver.capture_begin = [](void*, int) {
    const int code = result("cuStreamBeginCapture");
    fake_driver_state().capturing = code == 0;
    return code;
  };
  driver.capture_end = [](void*, void** graph) {
    FakeDriverState& state = fake_driver_state();
    state.capturing = false;
    const auto work = std::exchange(state.captured, {});
    if (std::exchange(state.spoiled, false)) return 901;  // CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
    const int code = take("cuStreamEndCapture", 1);
    if (code == 0) *graph = new Graph(work);
    return code;
  };
  driver.graph_instantiate = [](void** work, void* graph, unsigned long long) {
    const int code = take("cuGraphInstantiate", 1);
    if (code != 0) return code;
    *work = new Graph(*static_cast<Graph*>(graph));
    ++fake_driver_state().recordings;
    return code;
  };
  driver.graph_launch = [](void* work, void*) {
    const int code = result("cuGraphLaunch");
    if (code != 0) return code;
    for (const auto& one : *static_cast<Graph*>(work)) one();
    ++fake_driver_state().replays;
    return code;
  };
  driver.graph_destroy = [](void* graph) {
    delete static_cast<Graph*>(graph);
    return take("graph destroy", -1);
  };
  driver.graph_exec_destroy = driver.graph_destroy;
  driver.error_name = [](int error, const char** name) {
    *name = error == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_UNKNOWN";
    return 0;
  };
  return driver;
}

float* take_managed(std::size_t bytes) {
  auto* const memory = static_cast<float*>(memory_of(bytes));
  fake_driver_state().managed[address(memory)] = bytes;
  return memory;
}
void release_managed(float* memory) {
  fake_driver_state().managed.erase(address(memory));
  std::free(memory);
}

Status FakeNetwork::enqueue(int batch, DeviceAddress inputs, DeviceAddress features, void*) {
  fake_driver_state().is_working = true;  // its first layers, also where a later one fails
  if (result("enqueue") != 0) return Status(Code::device_failure, "the GPU was lost");
  if (inputs % 256 != 0 || features % 256 != 0) {
    return Status(Code::device_failure, "an address is not aligned to 256 bytes");
  }
  FakeDriverState& state = fake_driver_state();
  state.spoiled = state.capturing && state.network_waits;
  if (state.capturing) {
    state.captured.push_back([=] { compute(batch, inputs, features); });
  } else {
    compute(batch, inputs, features);
  }
  return {};
}

void FakeNetwork::compute(int batch, DeviceAddress inputs, DeviceAddress features) {
  fake_driver_state().inputs = inputs;
  fake_driver_state().features = features;
  const auto* from = reinterpret_cast<const float*>(inputs);
  auto* to = reinterpret_cast<float*>(features);
  for (int row = 0; row < batch; ++row) {
    float sum = 0;
    for (int i = 0; i < 12; ++i) sum += from[12 * row + i];
    to[2 * row] = sum;
    to[2 * row + 1] = static_cast<float>(batch);
  }
}

}  // namespace engram::test
