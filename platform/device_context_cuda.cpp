#include "platform/device_context_cuda.h"

#include <mutex>
#include <string>

#include "platform/device.h"

namespace engram::cuda {
namespace {

constexpr std::size_t kBlasBytes = std::size_t{4} << 20;  // what cuBLAS takes by itself on Ampere

// With room of its own: else cuBLAS takes some in the middle of a recording. Like cuSOLVER's it is
// taken before a learner asks what is free.
Status open_blas(Context& c) {
  ENGRAM_CUDA_TRY(cublasCreate, &c.blas);
  ENGRAM_CUDA_TRY(cublasSetMathMode, c.blas, CUBLAS_PEDANTIC_MATH);  // full FP32: no TF32
  ENGRAM_CUDA_TRY(cublasSetStream, c.blas, c.stream);
  void* room = nullptr;
  ENGRAM_CUDA_TRY(cudaMalloc, &room, kBlasBytes);
  ENGRAM_CUDA_TRY(cublasSetWorkspace, c.blas, room,
                  kBlasBytes);  // after the stream, which forgets it
  return Status();
}

Result<Context> open() {
  ENGRAM_ASSIGN(const int device, choose_device());
  Context c;
  c.device = device;
  ENGRAM_CUDA_TRY(cudaSetDevice, device);
  int integrated = 0, pageable = 0, concurrent = 0;
  ENGRAM_CUDA_TRY(cudaDeviceGetAttribute, &integrated, cudaDevAttrIntegrated, device);
  ENGRAM_CUDA_TRY(cudaDeviceGetAttribute, &pageable, cudaDevAttrPageableMemoryAccess, device);
  ENGRAM_CUDA_TRY(cudaDeviceGetAttribute, &concurrent, cudaDevAttrConcurrentManagedAccess, device);
  c.is_integrated = integrated != 0;
  c.shares_while_running = concurrent != 0;
  c.reaches_everything = pageable != 0;
  ENGRAM_CUDA_TRY(cudaStreamCreateWithFlags, &c.stream, cudaStreamNonBlocking);
  ENGRAM_CUDA_TRY(cudaStreamCreateWithFlags, &c.memory_stream, cudaStreamNonBlocking);
  for (cudaEvent_t& mark : c.marks) ENGRAM_CUDA_TRY(cudaEventCreate, &mark);
  ENGRAM_TRY(open_blas(c));
  ENGRAM_CUDA_TRY(cusolverDnCreate, &c.solver);
  ENGRAM_CUDA_TRY(cusolverDnSetStream, c.solver, c.stream);
  ENGRAM_CUDA_TRY(cudaMalloc, reinterpret_cast<void**>(&c.verdict), sizeof(int));
  ENGRAM_CUDA_TRY(cudaMallocHost, reinterpret_cast<void**>(&c.verdict_on_host), sizeof(int));
  return c;
}

}  // namespace

Status check(const char* call, cudaError_t error) {
  if (error == cudaSuccess) return Status();
  (void)cudaGetLastError();  // it is told here: no library is to find it later
  if (error == cudaErrorMemoryAllocation) return device_out_of_memory(call);
  return device_failed(call, cudaGetErrorString(error));
}
Status check(const char* call, cublasStatus_t status) {
  if (status == CUBLAS_STATUS_SUCCESS) return Status();
  if (status == CUBLAS_STATUS_ALLOC_FAILED) return device_out_of_memory(call);
  return device_failed(call, cublasGetStatusString(status));
}
Status check(const char* call, cusolverStatus_t status) {
  if (status == CUSOLVER_STATUS_SUCCESS) return Status();
  if (status == CUSOLVER_STATUS_ALLOC_FAILED) return device_out_of_memory(call);
  return device_failed(call, ("cuSOLVER status " + std::to_string(int(status))).c_str());
}

Result<int> choose_device(const char* code) {
  int driver = 0, runtime = 0, devices = 0;
  (void)cudaDriverGetVersion(&driver);  // 0 where there is none
  (void)cudaRuntimeGetVersion(&runtime);
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error != cudaSuccess) devices = 0;
  const bool in_trouble = error != cudaSuccess && error != cudaErrorNoDevice;
  ENGRAM_TRY(
      device_absence(driver, runtime, devices, in_trouble ? cudaGetErrorString(error) : nullptr));
  Status why, first;
  for (int device = 0; device < devices; ++device) {
    cudaDeviceProp properties{};
    ENGRAM_CUDA_TRY(cudaGetDeviceProperties, &properties, device);
    why = device_has_code(properties.name, properties.major, properties.minor, code);
    if (why.ok()) return int{device};
    if (first.ok()) first = why;
  }
  return first;
}

Result<Context*> context() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  static Result<Context>* const opened = new Result<Context>(open());
  if (!opened->ok()) return opened->status();
  ENGRAM_CUDA_TRY(cudaSetDevice, opened->value().device);  // it is the calling thread's
  return &opened->value();
}

}  // namespace engram::cuda
