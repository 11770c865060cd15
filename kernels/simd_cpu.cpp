#include "kernels/simd_cpu.h"

#include <atomic>

#include "platform/status.h"

namespace engram::cpu {
namespace {

std::atomic<Simd>& chosen() {
  static std::atomic<Simd> choice{best_simd()};
  return choice;
}

}  // namespace

Simd best_simd() {
#if defined(__x86_64__)
  static const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return avx2 ? Simd::avx2 : Simd::portable;
#elif defined(__aarch64__)
  return Simd::neon;
#else
  return Simd::portable;
#endif
}

Simd simd() {
  return chosen().load(std::memory_order_relaxed);
}

void use_simd(Simd choice) {
  ENGRAM_CHECK(choice == Simd::portable || choice == best_simd());
  chosen().store(choice, std::memory_order_relaxed);
}

const char* name(Simd choice) {
  return choice == Simd::avx2 ? "avx2" : choice == Simd::neon ? "neon" : "portable";
}

}  // namespace engram::cpu
