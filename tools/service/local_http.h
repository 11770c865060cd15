// Asks a web server on this machine one question.
#pragma once

#include <string>

#include "platform/status.h"

namespace engram {

struct LocalAnswer {
  int status = 0;
  std::string body;
};

// GET `path` from 127.0.0.1:`port`, within 2 s and 64 KiB. io_failure: nobody listens, or no answer.
Result<LocalAnswer> get_from_here(int port, const std::string& path);

}  // namespace engram
