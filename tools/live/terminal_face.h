// The camera app in a terminal: keys in, one page out. Nothing else is needed, also over ssh.
#pragma once

#include "platform/status.h"
#include "tools/live/live.h"
#include "tools/live/stop_signals.h"

namespace engram {

// Until the user quits or `stop` says so. `picture`: shows the camera's picture in the terminal.
// not_supported: standard input and output are no terminal.
Status run_terminal_face(Live& live, const StopSignals& stop, bool picture);

}  // namespace engram
