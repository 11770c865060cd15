// sgd_step: to the bit, and two steps by hand.
#include "kernels/sgd_step.h"

#include "tests/support/catch.h"
#include "tests/support/double_matrix.h"
#include "tests/support/random_matrix.h"

namespace engram {
namespace {

using test::Backend;
using test::GuardedMatrix;
using test::random_matrix;
using test::reads;
using test::rounded_product;
using test::rounded_sum;
using test::updates;

}  // namespace

TEST_CASE("sgd_step: equals the definition to the bit", "[kernels][sgd_step]") {
  const float rate = 0.01f, momentum = 0.9f, decay = 5e-4f;
  for (const auto [rows, cols] : test::elementwise_shapes()) {
    const GuardedMatrix<float> g = random_matrix(rows, cols, 1),
                               v_before = random_matrix(rows, cols, 2),
                               p_before = random_matrix(rows, cols, 3);
    GuardedMatrix<float> v_after = v_before, p_after = p_before;
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < cols; ++c) {
        const float pull = rounded_sum(g(r, c), rounded_product(decay, p_before(r, c)));
        v_after(r, c) = rounded_sum(rounded_product(momentum, v_before(r, c)), pull);
        p_after(r, c) = rounded_sum(p_before(r, c), -rounded_product(rate, v_after(r, c)));
      }
    }
    for (const Backend& backend : test::backends(&Kernels::sgd_step)) {
      CAPTURE(rows, cols, backend.name);
      GuardedMatrix<float> v = v_before, p = p_before;
      REQUIRE(test::run(backend, &Kernels::sgd_step, reads(g), rate, momentum, decay, updates(v),
                        updates(p))
                  .ok());
      REQUIRE(v == v_after);
      REQUIRE(p == p_after);
    }
  }
}

TEST_CASE("sgd_step: two steps as PyTorch takes them", "[kernels][sgd_step]") {
  for (const Backend& backend : test::backends(&Kernels::sgd_step)) {
    CAPTURE(backend.name);
    GuardedMatrix<float> g(1, 1), v(1, 1), p(1, 1);
    g(0, 0) = 1.0f;
    v(0, 0) = 0.0f;
    p(0, 0) = 2.0f;
    for (int step = 0; step < 2; ++step) {
      REQUIRE(test::run(backend, &Kernels::sgd_step, reads(g), 0.5f, 0.25f, 0.125f, updates(v),
                        updates(p))
                  .ok());
    }
    // torch.optim.SGD(lr=0.5, momentum=0.25, weight_decay=0.125): v 1.25, p 1.375; then
    // v = 0.25 * 1.25 + 1 + 0.125 * 1.375, p = 1.375 - 0.5 v.
    REQUIRE(v(0, 0) == 1.484375f);
    REQUIRE(p(0, 0) == 0.6328125f);
  }
}

}  // namespace engram
