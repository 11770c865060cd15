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
                                      .patches = simt::patches,
                                      .embed_tokens = simt::embed_tokens,
                                      .set_tokens = simt::set_tokens,
                                      .sum_tokens = simt::sum_tokens,
                                      .layer_norm = simt::layer_norm,
                                      .layer_norm_back = simt::layer_norm_back,
                                      .attention = simt::attention,
                                      .attention_back = simt::attention_back,
                                      .gelu = simt::gelu,
                                      .gelu_back = simt::gelu_back,
                                      .linear = simt::linear,
                                      .linear_back = simt::linear_back,
                                      .linear_gradient = simt::linear_gradient,
                                      .scale_shift = simt::scale_shift,
                                      .scale_shift_back = simt::scale_shift_back,
                                      .add_scaled = simt::add_scaled,
                                      .dropout = simt::dropout,
                                      .unit_rows = simt::unit_rows,
                                      .unit_rows_back = simt::unit_rows_back,
                                      .cross_entropy = simt::cross_entropy,
                                      .sgd_step = simt::sgd_step};

}  // namespace engram
