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
    .patches = cpu::patches,
    .embed_tokens = cpu::embed_tokens,
    .set_tokens = cpu::set_tokens,
    .sum_tokens = cpu::sum_tokens,
    .layer_norm = cpu::layer_norm,
    .layer_norm_back = cpu::layer_norm_back,
    .attention = cpu::attention,
    .attention_back = cpu::attention_back,
    .gelu = cpu::gelu,
    .gelu_back = cpu::gelu_back,
    .begin_sequence = StagedSequence<cuda::kMemory>::begin,
    .end_sequence = StagedSequence<cuda::kMemory>::end};

}  // namespace engram
