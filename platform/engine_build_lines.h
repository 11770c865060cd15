// What parent and child of engine_build.h say to each other.
#pragma once

namespace engram {

inline constexpr const char* kBuildFlag = "--build-engine";
// program, flag, library, model, output, height, width, batch, precision, memory, seconds
inline constexpr int kBuildArguments = 11;
inline constexpr const char* kProgressLine = "engram progress ";
inline constexpr const char* kGoodLine = "engram good";
inline constexpr const char* kBadLine = "engram bad ";

// Whether main() has called serve_engine_build(): starting a program again that does not expect it
// would start whatever that program does.
bool& serves_engine_builds();

}  // namespace engram
