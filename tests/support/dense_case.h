// Samples as their sums G and C, for what works on the dense form.
#pragma once

#include <numeric>
#include <vector>

#include "engine/gcv.h"
#include "tests/support/catch.h"
#include "tests/support/kernel_case.h"

namespace engram::test {

struct DenseCase {
  DenseCase(const KernelCase& x, int class_count)
      : units(x.units),
        classes(class_count),
        samples(x.size),
        data(std::size_t(units) * std::size_t(units)),
        diagonal(std::size_t(units)),
        sums(std::size_t(classes) * std::size_t(units)) {
    REQUIRE(kCpuKernels.gram_update(Stream{}, x.hidden(), 1.0f, gram()).ok());
    REQUIRE(kCpuKernels
                .class_sums(Stream{}, x.hidden(), {x.classes.data(), 1, x.size, x.size}, 1.0f,
                            {sums.data(), classes, units, units})
                .ok());
  }
  GramView gram() { return {data.data(), diagonal.data(), units, units}; }
  double trace() const { return std::accumulate(diagonal.begin(), diagonal.end(), 0.0); }
  GcvProblem problem() {
    return {kCpuKernels, gram(), {sums.data(), classes, units, units}, samples, 0.5 * trace()};
  }

  int units, classes, samples;
  std::vector<float> data, diagonal, sums;
};

}  // namespace engram::test
