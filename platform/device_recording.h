// Work for a device recorded once and repeated as one piece: a CUDA graph.
//
//     ENGRAM_TRY(recordings.begin(stream));   // from here on work is noted, not done
//     ... launches, calls of libraries ...
//     Result<void*> work = recordings.end(stream);
//     ENGRAM_TRY(recordings.replay(stream, work.value()));   // queued; as often as wanted
//
// It is repeated on the addresses and sizes that it was recorded with, whatever they hold then.
// Between begin and end nothing may be waited for. What fails in between, end says as well.
#pragma once

#include "platform/status.h"
#include "platform/stream.h"

namespace engram {

struct DeviceRecordings {
  Status (*begin)(Stream stream);
  Result<void*> (*end)(Stream stream);
  Status (*replay)(Stream stream, void* recording);
  void (*forget)(void* recording);  // null: nothing
};

namespace cuda {
extern const DeviceRecordings kRecordings;  // device_recording_cuda.cpp
}
namespace simt {
extern const DeviceRecordings kRecordings;  // device_recording_simt.cpp
}

}  // namespace engram
