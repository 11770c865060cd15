// Estimated times of every operation on a GPU (kernels/roofline.h), for `plan`, `doctor` and `bench`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "kernels/kernel_work.h"

namespace engram {

struct EstimatedOperation {
  std::string operation;
  int frames = 0;  // 0: the operation knows no batch
  Estimate estimate;
};

// Operations of the learner's arithmetic at each batch, of `shape` otherwise.
std::vector<EstimatedOperation> estimate_operations(const DevicePeaks& device, OperationShape shape,
                                                    const std::vector<int>& batches,
                                                    bool whole_numbers);
// One operation; none: it is not estimated (preprocess).
std::optional<Estimate> estimate_operation(const DevicePeaks& device, const std::string& operation,
                                           const OperationShape& shape);

// Of the GPU that computes in this machine. None: on the CPU, and where nobody says how fast it is.
std::optional<DevicePeaks> peaks_in_use();
// That there are no estimates beside times measured on a GPU; "" if there are, or no GPU.
std::string missing_estimates();

std::string estimate_text(const DevicePeaks& device, const std::vector<EstimatedOperation>& rows,
                          bool colour);
nlohmann::ordered_json estimate_json(const DevicePeaks& device,
                                     const std::vector<EstimatedOperation>& rows);
std::string time_text(double seconds);  // "23.5 µs"

}  // namespace engram
