// The backend `cuda`: the text of kernels/*.cu compiled by nvcc, cuBLAS and cuSOLVER. Only programs
// built with ENGRAM_CUDA have it.
//
// Each operation waits for its work before it returns, or is part of a sequence that does, and takes
// any memory (staged_call.h).
#pragma once

#include "kernels/kernels.h"
#include "kernels/staged_call.h"

namespace engram {

inline constexpr Kernels kCudaKernels{
    .name = "cuda",
    .preprocess = staged<cuda::kMemory, cuda::preprocess>,
    .quantise = staged<cuda::kMemory, cuda::quantise>,
    .sign_project = staged<cuda::kMemory, cuda::sign_project>,
    .activate = staged<cuda::kMemory, cuda::activate>,
    .project = staged<cuda::kMemory, cuda::project>,
    .score = staged<cuda::kMemory, cuda::score>,
    .feature_score = staged<cuda::kMemory, cuda::feature_score>,
    .leverage = staged<cuda::kMemory, cuda::leverage>,
    .gram_update = staged<cuda::kMemory, cuda::gram_update>,
    .class_sums = staged<cuda::kMemory, cuda::class_sums>,
    .kernel_rows = staged<cuda::kMemory, cuda::kernel_rows>,
    .cholesky = staged<cuda::kMemory, cuda::cholesky>,
    .cholesky_solve = staged<cuda::kMemory, cuda::cholesky_solve>,
    .inverse_diagonal = staged<cuda::kMemory, cuda::inverse_diagonal>,
    .factor_append = staged<cuda::kMemory, cuda::factor_append>,
    .triangular_solve = staged<cuda::kMemory, cuda::triangular_solve>,
    .combine_rows = staged<cuda::kMemory, cuda::combine_rows>,
    .patches = staged<cuda::kMemory, cuda::patches>,
    .embed_tokens = staged<cuda::kMemory, cuda::embed_tokens>,
    .set_tokens = staged<cuda::kMemory, cuda::set_tokens>,
    .sum_tokens = staged<cuda::kMemory, cuda::sum_tokens>,
    .layer_norm = staged<cuda::kMemory, cuda::layer_norm>,
    .layer_norm_back = staged<cuda::kMemory, cuda::layer_norm_back>,
    .attention = staged<cuda::kMemory, cuda::attention>,
    .attention_back = staged<cuda::kMemory, cuda::attention_back>,
    .gelu = staged<cuda::kMemory, cuda::gelu>,
    .gelu_back = staged<cuda::kMemory, cuda::gelu_back>,
    .linear = staged<cuda::kMemory, cuda::linear>,
    .linear_back = staged<cuda::kMemory, cuda::linear_back>,
    .linear_gradient = staged<cuda::kMemory, cuda::linear_gradient>,
    .scale_shift = staged<cuda::kMemory, cuda::scale_shift>,
    .scale_shift_back = staged<cuda::kMemory, cuda::scale_shift_back>,
    .add_scaled = staged<cuda::kMemory, cuda::add_scaled>,
    .dropout = staged<cuda::kMemory, cuda::dropout>,
    .unit_rows = staged<cuda::kMemory, cuda::unit_rows>,
    .unit_rows_back = staged<cuda::kMemory, cuda::unit_rows_back>,
    .cross_entropy = staged<cuda::kMemory, cuda::cross_entropy>,
    .sgd_step = staged<cuda::kMemory, cuda::sgd_step>,
    .begin_sequence = StagedSequence<cuda::kMemory>::begin,
    .end_sequence = StagedSequence<cuda::kMemory>::end};

}  // namespace engram
