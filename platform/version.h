#pragma once

namespace engram {

const char* version();  // "0.1.0"

}  // namespace engram
