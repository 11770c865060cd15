// Recordings of the emulated device: what a launch or a library would do, kept instead of done.
#pragma once

#include <functional>

#include "platform/status.h"

namespace engram::simt {

bool is_recording();  // on this thread
void record(std::function<Status()> work);

}  // namespace engram::simt
