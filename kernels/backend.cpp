#include "kernels/backend.h"

#include <mutex>
#include <utility>

#include "platform/arena.h"
#include "platform/device_staging.h"

#if defined(ENGRAM_CUDA)
#include "kernels/kernels_cuda.h"
#endif

namespace engram {
namespace {

struct Choice {
  std::mutex mutex;
  bool is_open = false;  // any backend: still to be found
  Backend backend;
  Status lost;  // why a device was given up
};
Choice& choice_made() {
  static Choice made;
  return made;
}

Result<Backend> find_cuda() {
#if defined(ENGRAM_CUDA)
  ENGRAM_ASSIGN(DeviceInfo device, cuda::find_device());
  return Backend{&kCudaKernels, &cuda::kMemory, std::move(device), {}};
#else
  return Status(Code::not_supported,
                "This engram was built without CUDA, so it computes on the CPU only. Build it with "
                "the preset cuda, or say --backend cpu.");
#endif
}

}  // namespace

Result<BackendChoice> parse_backend(const std::string& name) {
  if (name == "auto") return BackendChoice::automatic;
  if (name == "cpu") return BackendChoice::cpu;
  if (name == "cuda") return BackendChoice::cuda;
  return Status(
      Code::invalid_argument,
      name + ": no such backend. There are auto (a GPU where there is one), cpu and cuda.");
}

Result<Backend> find_backend(BackendChoice choice) {
  if (choice == BackendChoice::cpu) return Backend{};
  Result<Backend> found = find_cuda();
  if (found.ok() || choice == BackendChoice::cuda) return found;
  Backend cpu;
  cpu.why_cpu = found.status().what();
  return cpu;
}

void use_backend(const Backend& backend) {
  Choice& made = choice_made();
  const std::lock_guard lock(made.mutex);
  made.is_open = false;
  made.backend = backend;
  made.lost = {};
  set_buffer_memory(backend.memory);
}

void use_any_backend() {
  Choice& made = choice_made();
  const std::lock_guard lock(made.mutex);
  made.is_open = true;
}

Backend backend_in_use() {
  Choice& made = choice_made();
  const std::lock_guard lock(made.mutex);
  if (made.is_open) {
    made.is_open = false;
    made.backend = find_backend(BackendChoice::automatic).value();  // the CPU, if nothing else
    set_buffer_memory(made.backend.memory);
  }
  return made.backend;
}

Status give_up_lost_device(const Status& reason) {
  Choice& made = choice_made();
  const std::lock_guard lock(made.mutex);
  if (made.backend.memory == nullptr) return made.lost;
  // What failed may have kept the reason to itself: a factor that does not exist, say.
  Status lost = DeviceStaging::of(*made.backend.memory).lost();
  if (lost.ok() && reason.code() == Code::device_failure) lost = reason;
  if (lost.ok()) return {};
  made.backend = Backend{};
  made.backend.why_cpu = lost.what();
  made.lost = lost;
  set_buffer_memory(nullptr);
  return lost;
}

const Kernels& chosen_kernels() {
  return *backend_in_use().kernels;
}

}  // namespace engram
