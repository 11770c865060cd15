// The emulated device as a program would use a GPU: the table with staging, and arenas in the
// device's memory.
#pragma once

#include "kernels/backend.h"
#include "kernels/kernels_simt.h"
#include "kernels/staged_call.h"
#include "platform/device_trial_simt.h"

namespace engram::test {

// What has no .cu runs on the CPU, as in kernels_cuda.h.
template <auto operation>
constexpr auto staged_or_cpu() {
  if constexpr (kSimtKernels.*operation != nullptr) {
    return staged<simt::kMemory, kSimtKernels.*operation>;
  } else {
    return kCpuKernels.*operation;
  }
}

inline constexpr Kernels kStagedSimtKernels{
    .name = "staged simt",
    .preprocess = staged_or_cpu<&Kernels::preprocess>(),
    .quantise = staged_or_cpu<&Kernels::quantise>(),
    .sign_project = staged_or_cpu<&Kernels::sign_project>(),
    .activate = staged_or_cpu<&Kernels::activate>(),
    .project = staged_or_cpu<&Kernels::project>(),
    .score = staged_or_cpu<&Kernels::score>(),
    .feature_score = staged_or_cpu<&Kernels::feature_score>(),
    .leverage = staged_or_cpu<&Kernels::leverage>(),
    .gram_update = staged_or_cpu<&Kernels::gram_update>(),
    .class_sums = staged_or_cpu<&Kernels::class_sums>(),
    .kernel_rows = staged_or_cpu<&Kernels::kernel_rows>(),
    .cholesky = staged_or_cpu<&Kernels::cholesky>(),
    .cholesky_solve = staged_or_cpu<&Kernels::cholesky_solve>(),
    .inverse_diagonal = staged_or_cpu<&Kernels::inverse_diagonal>(),
    .factor_append = staged_or_cpu<&Kernels::factor_append>(),
    .triangular_solve = staged_or_cpu<&Kernels::triangular_solve>(),
    .combine_rows = staged_or_cpu<&Kernels::combine_rows>(),
    .patches = staged_or_cpu<&Kernels::patches>(),
    .embed_tokens = staged_or_cpu<&Kernels::embed_tokens>(),
    .set_tokens = staged_or_cpu<&Kernels::set_tokens>(),
    .sum_tokens = staged_or_cpu<&Kernels::sum_tokens>(),
    .layer_norm = staged_or_cpu<&Kernels::layer_norm>(),
    .layer_norm_back = staged_or_cpu<&Kernels::layer_norm_back>(),
    .attention = staged_or_cpu<&Kernels::attention>(),
    .attention_back = staged_or_cpu<&Kernels::attention_back>(),
    .gelu = staged_or_cpu<&Kernels::gelu>(),
    .gelu_back = staged_or_cpu<&Kernels::gelu_back>(),
    .linear = staged_or_cpu<&Kernels::linear>(),
    .linear_back = staged_or_cpu<&Kernels::linear_back>(),
    .linear_gradient = staged_or_cpu<&Kernels::linear_gradient>(),
    .scale_shift = staged_or_cpu<&Kernels::scale_shift>(),
    .scale_shift_back = staged_or_cpu<&Kernels::scale_shift_back>(),
    .add_scaled = staged_or_cpu<&Kernels::add_scaled>(),
    .dropout = staged_or_cpu<&Kernels::dropout>(),
    .unit_rows = staged_or_cpu<&Kernels::unit_rows>(),
    .unit_rows_back = staged_or_cpu<&Kernels::unit_rows_back>(),
    .cross_entropy = staged_or_cpu<&Kernels::cross_entropy>(),
    .sgd_step = staged_or_cpu<&Kernels::sgd_step>(),
    .begin_sequence = StagedSequence<simt::kMemory>::begin,
    .end_sequence = StagedSequence<simt::kMemory>::end};

// Computes there for as long as it lives; device code may touch only the device's memory.
class OnSimtDevice {
 public:
  explicit OnSimtDevice(simt::DeviceTrial trial = {})
      : trial_((trial.separate_memory = true, trial)) {
    DeviceStaging::of(simt::kMemory).try_again();
    use_backend({&kStagedSimtKernels, &simt::kMemory, simt::find_device().value(), {}});
  }
  ~OnSimtDevice() {
    use_backend({});
    DeviceStaging::of(simt::kMemory).try_again();
  }
  OnSimtDevice(const OnSimtDevice&) = delete;
  OnSimtDevice& operator=(const OnSimtDevice&) = delete;

 private:
  simt::OnTrial trial_;
};

}  // namespace engram::test
