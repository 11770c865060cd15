// Estimates as `plan` and `doctor` show them. The model itself: tests/kernels/roofline_test.cpp.
#include "tools/estimate_report.h"

#include <nlohmann/json.hpp>

#include "kernels/backend.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"

namespace engram {

using test::says;

TEST_CASE("estimate_report: the operations of an arithmetic at each batch", "[tools][estimate]") {
  const DevicePeaks device = *published_peaks("orin-nano-8gb");
  const auto rows = estimate_operations(device, {.units = 2000}, {1, 16}, /*whole_numbers=*/true);
  int projections = 0, factors = 0;
  for (const EstimatedOperation& row : rows) {
    CHECK(row.operation != "project");
    projections += row.operation == "sign_project";
    factors += row.operation == "cholesky";
  }
  CHECK(projections == 2);
  CHECK(factors == 1);  // it knows no batch
  for (const EstimatedOperation& row : estimate_operations(device, {}, {1}, false)) {
    CHECK(row.operation != "sign_project");
  }
  const std::string text = estimate_text(device, rows, false);
  CHECK(says(text, "not measured"));
  CHECK(says(text, "8 multiprocessors at 625 MHz"));
  CHECK(estimate_json(device, rows)["measured"] == false);
}

TEST_CASE("estimate_report: how often a call starts a kernel", "[tools][estimate]") {
  const DevicePeaks device = *published_peaks("orin-nano-8gb");
  const OperationShape shape{.frames = 300, .units = 2000};
  const Estimate kernel = *estimate_operation(device, "gram_update", shape);
  CHECK(kernel.launches == 2);  // 300 frames are two passes
  CHECK_FALSE(estimate_operation(device, "preprocess", shape));
}

TEST_CASE("estimate_report: a GPU that nobody knows is told", "[tools][estimate]") {
  use_backend({});
  CHECK_FALSE(peaks_in_use());
  CHECK(missing_estimates().empty());  // nothing is: the CPU computes
  Backend gpu;
  gpu.device = DeviceInfo{.name = "Orin", .major = 8, .minor = 7, .multiprocessors = 8};
  use_backend(gpu);
  CHECK_FALSE(peaks_in_use());
  CHECK(says(missing_estimates(), "how fast Orin and its memory are"));
  use_backend({});
}

TEST_CASE("estimate_report: times as people read them", "[tools][estimate]") {
  CHECK(time_text(2.35e-5) == "23.5 µs");
  CHECK(time_text(0.0123) == "12.30 ms");
  CHECK(time_text(2.5) == "2.50 s");
}

}  // namespace engram
