// The camera app as its service manager sees it (tools/service/service_watch.h).
#pragma once

#include <string>

#include "tools/live/live.h"
#include "tools/service/service_watch.h"

namespace engram {

// "live, 12 classes, 96 samples", or first what is wrong. Nothing that changes with every frame.
std::string service_status(const LiveState& state);

// Ready with the first frame that was looked at; or without one, when it is the camera that is missing:
// being started again would not bring it back.
ServicePulse service_pulse(const Live& live);

}  // namespace engram
