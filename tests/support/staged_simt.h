// The emulated device as a program would use a GPU: the table with staging, and arenas in the
// device's memory.
#pragma once

#include "kernels/backend.h"
#include "kernels/kernels_simt.h"
#include "kernels/staged_call.h"
#include "platform/device_trial_simt.h"

namespace engram::test {

inline constexpr Kernels kStagedSimtKernels{
    .name = "staged simt",
    .preprocess = staged<simt::kMemory, simt::preprocess>,
    .quantise = staged<simt::kMemory, simt::quantise>,
    .sign_project = staged<simt::kMemory, simt::sign_project>,
    .activate = staged<simt::kMemory, simt::activate>,
    .project = staged<simt::kMemory, simt::project>,
    .score = staged<simt::kMemory, simt::score>,
    .feature_score = staged<simt::kMemory, simt::feature_score>,
    .leverage = staged<simt::kMemory, simt::leverage>,
    .gram_update = staged<simt::kMemory, simt::gram_update>,
    .class_sums = staged<simt::kMemory, simt::class_sums>,
    .kernel_rows = staged<simt::kMemory, simt::kernel_rows>,
    .cholesky = staged<simt::kMemory, simt::cholesky>,
    .cholesky_solve = staged<simt::kMemory, simt::cholesky_solve>,
    .inverse_diagonal = staged<simt::kMemory, simt::inverse_diagonal>,
    .factor_append = staged<simt::kMemory, simt::factor_append>,
    .triangular_solve = staged<simt::kMemory, simt::triangular_solve>,
    .combine_rows = staged<simt::kMemory, simt::combine_rows>,
    .patches = staged<simt::kMemory, simt::patches>,
    .embed_tokens = staged<simt::kMemory, simt::embed_tokens>,
    .set_tokens = staged<simt::kMemory, simt::set_tokens>,
    .sum_tokens = staged<simt::kMemory, simt::sum_tokens>,
    .layer_norm = staged<simt::kMemory, simt::layer_norm>,
    .layer_norm_back = staged<simt::kMemory, simt::layer_norm_back>,
    .attention = staged<simt::kMemory, simt::attention>,
    .attention_back = staged<simt::kMemory, simt::attention_back>,
    .gelu = staged<simt::kMemory, simt::gelu>,
    .gelu_back = staged<simt::kMemory, simt::gelu_back>,
    .linear = staged<simt::kMemory, simt::linear>,
    .linear_back = staged<simt::kMemory, simt::linear_back>,
    .linear_gradient = staged<simt::kMemory, simt::linear_gradient>,
    .scale_shift = staged<simt::kMemory, simt::scale_shift>,
    .scale_shift_back = staged<simt::kMemory, simt::scale_shift_back>,
    .add_scaled = staged<simt::kMemory, simt::add_scaled>,
    .dropout = staged<simt::kMemory, simt::dropout>,
    .unit_rows = staged<simt::kMemory, simt::unit_rows>,
    .unit_rows_back = staged<simt::kMemory, simt::unit_rows_back>,
    .cross_entropy = staged<simt::kMemory, simt::cross_entropy>,
    .sgd_step = staged<simt::kMemory, simt::sgd_step>,
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
