// Every way a CPU kernel can run on this machine: SIMD or portable code, one thread or two.
#pragma once

#include <vector>

#include "kernels/simd_cpu.h"
#include "platform/threads.h"

namespace engram::test {

struct Path {
  cpu::Simd simd;
  int threads;
};

inline std::vector<Path> kernel_paths() {
  std::vector<Path> paths{{cpu::Simd::portable, 1}, {cpu::Simd::portable, 2}};
  if (cpu::best_simd() != cpu::Simd::portable) {
    paths.push_back({cpu::best_simd(), 1});
    paths.push_back({cpu::best_simd(), 2});
  }
  return paths;
}

// Takes a path for as long as it lives, then gives the program's own choice back.
class OnPath {
 public:
  explicit OnPath(Path path) : threads_(thread_count()) {
    cpu::use_simd(path.simd);
    set_thread_count(path.threads);
  }
  ~OnPath() {
    cpu::use_simd(cpu::best_simd());
    set_thread_count(threads_);
  }
  OnPath(const OnPath&) = delete;
  OnPath& operator=(const OnPath&) = delete;

 private:
  int threads_;
};

}  // namespace engram::test
