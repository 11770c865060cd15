#include "kernels/backend.h"

#include <mutex>
#include <utility>

#include "platform/arena.h"
#include "platform/device_staging.h"
#include "platform/sentence.h"

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
  std::function<void(const std::string&)> tell;
};
Choice& choice_made() {
  static Choice made;
  return made;
}

// Without the lock: who is told may ask.
void tell_trouble(const Backend& backend, const std::function<void(const std::string&)>& tell) {
  const std::string text = gpu_trouble_text(backend);
  if (tell && !text.empty()) tell(text);
}

bool driver_is_there() {
#if defined(ENGRAM_CUDA)
  return cuda::has_driver();
#else
  return false;  // or none that this program could use
#endif
}

Result<Backend> find_cuda() {
#if defined(ENGRAM_CUDA)
  ENGRAM_ASSIGN(DeviceInfo device, cuda::find_device());
  return Backend{&kCudaKernels, &cuda::kMemory, std::move(device), {}, GpuTrouble::none};
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
  return cpu_because(found.status(), driver_is_there());
}

Backend cpu_because(const Status& why, bool has_driver) {
  Backend cpu;
  cpu.why_cpu = why.what();
  if (has_driver) cpu.trouble = GpuTrouble::unusable;
  return cpu;
}

std::string gpu_trouble_text(const Backend& backend) {
  switch (backend.trouble) {
    case GpuTrouble::none:
      return "";
    case GpuTrouble::unusable:
      return "The CPU computes instead of the GPU. " + backend.why_cpu;
    case GpuTrouble::lost:
      break;
  }
  // Its first sentence alone: the others are for who has to repeat a command.
  return "The GPU was lost: " + first_sentence(backend.why_cpu) + ". The CPU goes on.";
}

void tell_gpu_trouble(std::function<void(const std::string& sentence)> tell) {
  Choice& made = choice_made();
  const std::lock_guard lock(made.mutex);
  made.tell = std::move(tell);
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
  std::unique_lock lock(made.mutex);
  if (!made.is_open) return made.backend;
  made.is_open = false;
  made.backend = find_backend(BackendChoice::automatic).value();  // the CPU, if nothing else
  set_buffer_memory(made.backend.memory);
  const Backend found = made.backend;
  const auto tell = made.tell;
  lock.unlock();
  tell_trouble(found, tell);
  return found;
}

Status give_up_lost_device(const Status& reason) {
  Choice& made = choice_made();
  std::unique_lock lock(made.mutex);
  if (made.backend.memory == nullptr) return made.lost;
  // What failed may have kept the reason to itself: a factor that does not exist, say.
  Status lost = DeviceStaging::of(*made.backend.memory).lost();
  if (lost.ok() && reason.code() == Code::device_failure) lost = reason;
  if (lost.ok()) return {};
  made.backend = Backend{};
  made.backend.why_cpu = lost.what();
  made.backend.trouble = GpuTrouble::lost;
  made.lost = lost;
  set_buffer_memory(nullptr);
  const Backend cpu = made.backend;
  const auto tell = made.tell;
  lock.unlock();
  tell_trouble(cpu, tell);
  return lost;
}

const Kernels& chosen_kernels() {
  return *backend_in_use().kernels;
}

}  // namespace engram
