// What `doctor` says of the kernels that it tried.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "platform/device_peaks.h"
#include "tools/doctor/doctor.h"
#include "tools/doctor/kernel_trials.h"

namespace engram {

// Where they ran. Asked before they do: a device that is lost meanwhile says nothing any more.
struct TrialPlace {
  bool on_gpu = false;
  std::optional<DevicePeaks> peaks{};  // for estimates
  std::string missing_estimates{};
};
TrialPlace trial_place();  // of the backend in use

std::string trials_text(const KernelTrials& trials, const TrialPlace& place, bool colour);
nlohmann::ordered_json trials_json(const KernelTrials& trials, const TrialPlace& place);
// A device that was lost, or that does not record. None: neither.
std::vector<Finding> trial_findings(const KernelTrials& trials);

}  // namespace engram
