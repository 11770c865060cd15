#include "tools/estimate_report.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/backend.h"
#include "tools/console/table.h"
#include "tools/console/units.h"
#include "tools/doctor/doctor.h"

namespace engram {

std::vector<EstimatedOperation> estimate_operations(const DevicePeaks& device, OperationShape shape,
                                                    const std::vector<int>& batches,
                                                    bool whole_numbers) {
  std::vector<EstimatedOperation> rows;
  shape.whole_numbers = whole_numbers;
  for (const std::string& operation : estimated_operations()) {
    const bool is_exact =
        operation == "quantise" || operation == "sign_project" || operation == "activate";
    if (whole_numbers ? operation == "project" : is_exact) continue;
    for (const int frames : has_batch(operation) ? batches : std::vector<int>{0}) {
      shape.frames = std::max(frames, 1);
      rows.push_back({operation, frames, *estimate_operation(device, operation, shape)});
    }
  }
  return rows;
}

std::optional<Estimate> estimate_operation(const DevicePeaks& device, const std::string& operation,
                                           const OperationShape& shape) {
  if (!is_estimated(operation)) return std::nullopt;
  return estimate(kernel_work(operation, shape, device.cache_bytes), device);
}

std::optional<DevicePeaks> peaks_in_use() {
  const std::optional<DeviceInfo>& device = backend_in_use().device;
  if (!device) return std::nullopt;
  return reported_peaks(*device, first_line("/proc/device-tree/model"));
}

std::string missing_estimates() {
  const std::optional<DeviceInfo>& device = backend_in_use().device;
  if (!device || peaks_in_use()) return "";
  return fmt::format(
      "There are no estimates beside these times: how fast {} and its memory are at best, neither "
      "the driver nor the name of this board says.\n",
      device->name);
}

std::string time_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.1f} µs", 1e6 * seconds);
  if (seconds < 1) return fmt::format("{:.2f} ms", 1e3 * seconds);
  return fmt::format("{:.2f} s", seconds);
}

std::string estimate_text(const DevicePeaks& device, const std::vector<EstimatedOperation>& rows,
                          bool colour) {
  Table table({{"operation"},
               {"frames", Align::right},
               {"estimate", Align::right},
               {"of the limit", Align::right},
               {"held back by"}});
  for (const EstimatedOperation& row : rows) {
    const Estimate& e = row.estimate;
    table.add(
        {row.operation, row.frames > 0 ? std::to_string(row.frames) : "", time_text(e.seconds),
         e.from_code ? fmt::format("{:.0f} %", 100 * e.share_of_limit()) : "at best", e.binds});
  }
  return fmt::format(
             "Estimated times on {}, not measured: {} multiprocessors at {:.0f} MHz, {} a second,\n"
             "{:.2f} TFLOP/s, {:.1f} int8 TOPS (dense); instructions counted in the machine code "
             "for {}.\nEvery call takes about {:.0f} µs more, to start it and to wait "
             "(assumed).\n\n",
             device.name, device.multiprocessors, 1e-6 * device.clock,
             bytes_text(std::int64_t(device.memory_bytes)), 1e-12 * device.float_operations(),
             1e-12 * device.byte_operations(), device.target, 1e6 * kLaunchSeconds) +
         table.text(colour) +
         "\nThe limit is the least time to move the operands, or to compute at the device's peak. "
         "\"at best\":\nthe limit is all that is known, of cuBLAS, of cuSOLVER and of gram_update "
         "on real numbers. "
         "preprocess\nis not estimated: its time depends on the picture.\n";
}

nlohmann::ordered_json estimate_json(const DevicePeaks& device,
                                     const std::vector<EstimatedOperation>& rows) {
  nlohmann::ordered_json operations = nlohmann::ordered_json::array();
  for (const EstimatedOperation& row : rows) {
    const Estimate& e = row.estimate;
    nlohmann::ordered_json one{{"operation", row.operation}};
    if (row.frames > 0) one["frames"] = row.frames;
    one["seconds"] = e.seconds;
    one["limit_seconds"] = e.limit_seconds;
    one["limit"] = e.limit;
    one["held_back_by"] = e.binds;
    one["from_machine_code"] = e.from_code;
    if (e.from_code) {
      one["kernel"] = e.kernel;
      one["share_of_limit"] = e.share_of_limit();
      for (const Limit& limit : e.all) one["limits"][limit.name] = limit.seconds;
    }
    operations.push_back(one);
  }
  return {{"measured", false},
          {"device", device.name},
          {"target", device.target},
          {"multiprocessors", device.multiprocessors},
          {"clock_hz", device.clock},
          {"memory_bytes_per_second", device.memory_bytes},
          {"call_seconds", kLaunchSeconds},
          {"operations", operations}};
}

}  // namespace engram
