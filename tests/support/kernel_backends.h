// Every way an operation can run on this machine, one call for all of them.
//
//     for (const test::Backend& backend : test::backends(&Kernels::quantise)) {
//       CAPTURE(backend.name);
//       REQUIRE(test::run(backend, &Kernels::quantise, reads(f), scale, writes(q)).ok());
//
// cpu runs on the test's own matrices. simt runs on copies in device memory, as cuda would: blocks
// of exactly the matrix's size, whose outputs are not a number until the kernel writes them. They
// come in two layouts, rows at multiples of 16 elements or at odd distances, because kernels read
// vectors where they can; and in every order of threads.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/kernels.h"
#include "kernels/kernels_simt.h"
#include "platform/simt_hooks.h"
#include "platform/simt_machine.h"
#include "tests/support/device_matrix.h"
#include "tests/support/kernel_paths.h"

namespace engram::test {

struct Backend {
  std::string name;
  const Kernels* kernels;
  Path path;  // cpu
  simt::Options simt;
  bool aligned_rows;

  bool on_device() const { return kernels != &kCpuKernels; }
};

inline std::vector<Backend> simt_backends() {
  using simt::Order;
  using simt::TensorSum;
  std::vector<Backend> all;
  const auto add = [&](const char* name, Order order, TensorSum sum, bool aligned_rows) {
    all.push_back({name, &kSimtKernels, {cpu::best_simd(), 1}, {order, 1, sum}, aligned_rows});
  };
  add("simt forward, aligned rows", Order::forward, TensorSum::fused, true);
  add("simt reverse, odd rows", Order::reverse, TensorSum::sequential, false);
  if (simt::hooks().allocated) return all;  // a checker's rules know no order
  static unsigned seed = 0;                 // every case has a random order of its own
  all.push_back({"simt random, seed " + std::to_string(++seed) + ", aligned rows",
                 &kSimtKernels,
                 {cpu::best_simd(), 1},
                 {Order::random, seed, TensorSum::truncating},
                 true});
  return all;
}

// The cpu's paths, and simt's where the operation has a .cu; under a checker only the latter.
template <class Operation>
std::vector<Backend> backends(Operation* Kernels::*operation) {
  std::vector<Backend> all;
  if (!simt::hooks().allocated) {
    for (const Path path : kernel_paths()) {
      const std::string threads = std::to_string(path.threads);
      all.push_back({std::string("cpu ") + cpu::name(path.simd) + ", threads " + threads,
                     &kCpuKernels,
                     path,
                     {},
                     false});
    }
  }
  if (kSimtKernels.*operation != nullptr) {
    for (Backend& backend : simt_backends()) all.push_back(std::move(backend));
  }
  return all;
}

template <class... Parameters, class... Arguments>
Status run(const Backend& backend, Status (*Kernels::*operation)(Stream, Parameters...),
           Arguments... arguments) {
  const OnPath on(backend.path);
  const simt::Options before = std::exchange(simt::options(), backend.simt);
  const Placement where{backend.on_device(), backend.aligned_rows};
  Status status = (backend.kernels->*operation)(Stream{}, place(where, arguments).get()...);
  simt::options() = before;
  return status;
}

}  // namespace engram::test
