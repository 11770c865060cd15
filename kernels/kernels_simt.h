// The backend `simt`: the text of kernels/*.cu, compiled by the host compiler and run thread by
// thread on the CPU (platform/simt.h). For tests and self-tests; nothing learns with it.
//
// Memory is host memory. Link with engram_simt.
#pragma once

#include "kernels/kernels.h"

namespace engram {

inline constexpr Kernels kSimtKernels{.name = "simt",
                                      .preprocess = simt::preprocess,
                                      .quantise = simt::quantise,
                                      .sign_project = simt::sign_project,
                                      .activate = simt::activate,
                                      .project = simt::project,
                                      .score = simt::score,
                                      .feature_score = simt::feature_score,
                                      .leverage = simt::leverage,
                                      .gram_update = simt::gram_update,
                                      .class_sums = simt::class_sums,
                                      .kernel_rows = simt::kernel_rows,
                                      .cholesky = simt::cholesky,
                                      .cholesky_solve = simt::cholesky_solve,
                                      .inverse_diagonal = simt::inverse_diagonal,
                                      .factor_append = simt::factor_append,
                                      .triangular_solve = simt::triangular_solve,
                                      .combine_rows = simt::combine_rows,
                                      .patches = nullptr,
                                      .embed_tokens = nullptr,
                                      .set_tokens = nullptr,
                                      .sum_tokens = nullptr,
                                      .layer_norm = nullptr,
                                      .layer_norm_back = nullptr,
                                      .attention = nullptr,
                                      .attention_back = nullptr,
                                      .gelu = nullptr,
                                      .gelu_back = nullptr};

}  // namespace engram
