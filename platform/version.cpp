#include "platform/version.h"

namespace engram {

const char* version() {
  return ENGRAM_VERSION;
}

}  // namespace engram
