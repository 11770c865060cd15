// Which instructions the CPU kernels use: the best that this machine has, found at run time.
//
// The library is compiled for the plain architecture, so that one binary runs everywhere. A kernel
// that gains from more has a function marked ENGRAM_AVX2 (or, on aarch64, NEON in plain sight:
// every aarch64 has it) beside a portable one, and asks simd() which to call.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#define ENGRAM_AVX2 __attribute__((target("avx2,fma")))
#endif

namespace engram::cpu {

enum class Simd : std::uint8_t { portable, avx2, neon };

Simd best_simd();            // of this machine; without portable code nothing is lost but time
Simd simd();                 // what the kernels use now: best_simd() unless told otherwise
void use_simd(Simd choice);  // portable or best_simd(); for tests and benchmarks
const char* name(Simd choice);

}  // namespace engram::cpu
