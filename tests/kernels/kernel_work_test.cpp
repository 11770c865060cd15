// What the model says of a launch is what the emulator sees of it.
#include "kernels/kernel_work.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "kernels/kernel_code.h"
#include "kernels/kernels_simt.h"
#include "platform/simt_hooks.h"
#include "tests/support/catch.h"

namespace engram {
namespace {

long tensor_instructions = 0;

// Counts while it lives.
class CountTensors {
 public:
  CountTensors() {
    tensor_instructions = 0;
    simt::hooks().collective = [](const char* name) {
      tensor_instructions += std::string(name).starts_with("mma_");
    };
  }
  ~CountTensors() { simt::hooks().collective = nullptr; }
  CountTensors(const CountTensors&) = delete;
  CountTensors& operator=(const CountTensors&) = delete;
};

double tensor_work(const KernelWork& work) {
  if (work.kernel == "sign_project.one_frame") return 0;  // has none
  double sum =
      work.launches * work.blocks * kernel_code(work.kernel, "sm_87")->threads / 32 * work.primary;
  for (const KernelWork& next : work.then) sum += tensor_work(next);
  return sum;
}
double modelled(const std::string& operation, const OperationShape& shape) {
  return tensor_work(kernel_work(operation, shape, 2e6));
}

}  // namespace

TEST_CASE("kernel_work: as many tensor instructions as are executed", "[kernels][roofline]") {
  const auto [b, l, m, n] =
      GENERATE(std::array{2, 32, 100, 3}, std::array{9, 33, 129, 64}, std::array{17, 160, 65, 65},
               std::array{40, 40, 200, 130}, std::array{64, 32, 33, 5}, std::array{65, 513, 100, 5},
               std::array{70, 31, 64, 5}, std::array{72, 512, 4, 5}, std::array{97, 544, 129, 5},
               std::array{113, 520, 64, 5});
  const OperationShape shape{.frames = b, .features = l, .units = m, .samples = n};
  CAPTURE(b, l, m, n);
  const auto at = [](int rows, int cols) { return std::size_t(rows) * std::size_t(cols); };
  std::vector<std::int8_t> q(at(b, l), 1);
  std::vector<std::uint32_t> words(at((l + 31) / 32, m), 7);
  std::vector<std::int32_t> p(at(b, m));
  std::vector<float> h(at(b, m), 1.0f), g(at(m, m)), diagonal(at(m, 1)), k(at(b, n));
  std::vector<std::uint8_t> kept(at(std::max(b, n), m), 1);
  const CountTensors counted;
  REQUIRE(
      simt::sign_project(Stream{}, {q.data(), b, l, l}, {words.data(), l, m}, {p.data(), b, m, m})
          .ok());
  CHECK(tensor_instructions == modelled("sign_project", shape));
  tensor_instructions = 0;
  REQUIRE(simt::gram_update(Stream{}, {h.data(), b, m, m}, 1.0f, {g.data(), diagonal.data(), m, m})
              .ok());
  CHECK(tensor_instructions == modelled("gram_update", shape));
  tensor_instructions = 0;
  REQUIRE(simt::kernel_rows(Stream{}, {kept.data(), nullptr, b, m}, {kept.data(), nullptr, n, m},
                            {k.data(), b, n, n})
              .ok());
  CHECK(tensor_instructions == modelled("kernel_rows", shape));
}

}  // namespace engram
