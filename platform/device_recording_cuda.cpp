// Recordings as CUDA graphs, by stream capture.
#include "platform/device_recording.h"

#include "platform/device_context_cuda.h"

namespace engram::cuda {
namespace {

cudaStream_t queue_of(Stream stream) {
  return static_cast<cudaStream_t>(stream.handle);
}

Status begin(Stream stream) {
  // Of this thread: another one may take memory meanwhile.
  ENGRAM_CUDA_TRY(cudaStreamBeginCapture, queue_of(stream), cudaStreamCaptureModeThreadLocal);
  return Status();
}

Result<void*> end(Stream stream) {
  cudaGraph_t graph = nullptr;
  ENGRAM_CUDA_TRY(cudaStreamEndCapture, queue_of(stream), &graph);
  cudaGraphExec_t work = nullptr;
  const cudaError_t error = cudaGraphInstantiate(&work, graph, 0);
  (void)cudaGraphDestroy(graph);
  ENGRAM_TRY(check("cudaGraphInstantiate", error));
  return static_cast<void*>(work);
}

Status replay(Stream stream, void* recording) {
  ENGRAM_CUDA_TRY(cudaGraphLaunch, static_cast<cudaGraphExec_t>(recording), queue_of(stream));
  return Status();
}

void forget(void* recording) {
  if (recording != nullptr) (void)cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(recording));
}

}  // namespace

const DeviceRecordings kRecordings{begin, end, replay, forget};

}  // namespace engram::cuda
