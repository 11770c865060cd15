#include "tools/exit_code.h"

namespace engram {

int exit_code(Code code) {
  switch (code) {
    case Code::ok:
      return 0;
    case Code::invalid_argument:
      return 64;
    case Code::bad_data:
      return 65;
    case Code::not_found:
      return 66;
    case Code::not_supported:
      return 69;
    case Code::internal:
      return 70;
    case Code::out_of_memory:
      return 71;
    case Code::device_failure:
      return 71;
    case Code::io_failure:
      return 74;
    case Code::busy:
      return 75;
  }
  return 70;
}

}  // namespace engram
