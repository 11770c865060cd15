// The operations of the learner, in the order a frame meets them, and the backends that have them.
//
// A program chooses one table at start-up and passes it down; nothing else in the program asks
// which backend runs. What an operation consists of, and how to add one: kernels/README.md.
#pragma once

#include "kernels/activate.h"
#include "kernels/add_scaled.h"
#include "kernels/attention.h"
#include "kernels/attention_back.h"
#include "kernels/cholesky.h"
#include "kernels/cholesky_solve.h"
#include "kernels/chosen_kernels.h"
#include "kernels/class_sums.h"
#include "kernels/combine_rows.h"
#include "kernels/cross_entropy.h"
#include "kernels/dropout.h"
#include "kernels/embed_tokens.h"
#include "kernels/factor_append.h"
#include "kernels/feature_score.h"
#include "kernels/gelu.h"
#include "kernels/gelu_back.h"
#include "kernels/gram_update.h"
#include "kernels/inverse_diagonal.h"
#include "kernels/kernel_rows.h"
#include "kernels/layer_norm.h"
#include "kernels/layer_norm_back.h"
#include "kernels/leverage.h"
#include "kernels/linear.h"
#include "kernels/linear_back.h"
#include "kernels/linear_gradient.h"
#include "kernels/patches.h"
#include "kernels/preprocess.h"
#include "kernels/project.h"
#include "kernels/quantise.h"
#include "kernels/scale_shift.h"
#include "kernels/scale_shift_back.h"
#include "kernels/score.h"
#include "kernels/set_tokens.h"
#include "kernels/sgd_step.h"
#include "kernels/sign_project.h"
#include "kernels/sum_tokens.h"
#include "kernels/triangular_solve.h"
#include "kernels/unit_rows.h"
#include "kernels/unit_rows_back.h"

namespace engram {

struct Kernels {
  const char* name;
  Preprocess* preprocess;       // picture -> input tensor                      every frame
  Quantise* quantise;           // features -> bytes                            every frame
  SignProject* sign_project;    // bytes -> projections                         every frame
  Activate* activate;           // projections -> hidden units                  every frame
  Project* project;             // features -> hidden units, in float           every frame
  Score* score;                 // hidden units, readout -> class scores        every frame
  FeatureScore* feature_score;  // bytes, readout of features -> class scores  every frame
  Leverage* leverage;           // hidden units, probes -> leverages            every frame
  GramUpdate* gram_update;      // hidden units -> G                            every learned frame
  ClassSums* class_sums;        // hidden units, labels -> C                    every learned frame
  KernelRows* kernel_rows;      // kept hidden units -> rows of H HT            every learned frame
  Cholesky* cholesky;           // G + lambda I -> U                            end of a task
  CholeskySolve* cholesky_solve;      // U, C -> readout                           end of a task
  InverseDiagonal* inverse_diagonal;  // U -> diagonal of (UT U)^-1                end of a task
  FactorAppend* factor_append;        // more rows of G -> more columns of U       learning at once
  TriangularSolve* triangular_solve;  // half of cholesky_solve                    learning at once
  CombineRows* combine_rows;          // weights, kept hidden units -> readout     end of a task
  // First-session adaptation: a vision transformer, forward and backward.
  Patches* patches;                // pictures -> rows of pixels                    every step
  EmbedTokens* embed_tokens;       // embedded patches -> tokens                    every step
  SetTokens* set_tokens;           // prompts -> tokens of every picture            every block
  SumTokens* sum_tokens;           // their gradient                                every block
  LayerNorm* layer_norm;           // rows to mean 0, variance 1                    every block
  LayerNormBack* layer_norm_back;  // its gradient                                  every block
  Attention* attention;            // q, k, v -> what tokens tell each other        every block
  AttentionBack* attention_back;   // its gradient                                  every block
  Gelu* gelu;                      // the MLP's nonlinearity                        every block
  GeluBack* gelu_back;             // its gradient                                  every block
  // First-session adaptation: what is trained, and its loss.
  Linear* linear;                    // x -> x wT + b                               every block
  LinearBack* linear_back;           // gradient of x                               every block
  LinearGradient* linear_gradient;   // gradients of w and b                        every block
  ScaleShift* scale_shift;           // y -> scale y + shift                        every block
  ScaleShiftBack* scale_shift_back;  // gradients of y, scale and shift             every block
  AddScaled* add_scaled;             // x, branch -> x + alpha gamma branch         every block
  Dropout* dropout;                  // x -> x with zeros; its own gradient         every block
  UnitRows* unit_rows;               // x -> rows of length 1                       every step
  UnitRowsBack* unit_rows_back;      // gradient of x                               every step
  CrossEntropy* cross_entropy;       // cosines, labels -> losses, gradients        every step
  SgdStep* sgd_step;                 // gradients -> velocities, parameters         every step
  // Around operations that belong together (kernels/kernel_sequence.h). Null: each is done at once.
  void (*begin_sequence)() = nullptr;
  Status (*end_sequence)(bool wanted) = nullptr;
};

inline constexpr Kernels kCpuKernels{.name = "cpu",
                                     .preprocess = cpu::preprocess,
                                     .quantise = cpu::quantise,
                                     .sign_project = cpu::sign_project,
                                     .activate = cpu::activate,
                                     .project = cpu::project,
                                     .score = cpu::score,
                                     .feature_score = cpu::feature_score,
                                     .leverage = cpu::leverage,
                                     .gram_update = cpu::gram_update,
                                     .class_sums = cpu::class_sums,
                                     .kernel_rows = cpu::kernel_rows,
                                     .cholesky = cpu::cholesky,
                                     .cholesky_solve = cpu::cholesky_solve,
                                     .inverse_diagonal = cpu::inverse_diagonal,
                                     .factor_append = cpu::factor_append,
                                     .triangular_solve = cpu::triangular_solve,
                                     .combine_rows = cpu::combine_rows,
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
                                     .linear = cpu::linear,
                                     .linear_back = cpu::linear_back,
                                     .linear_gradient = cpu::linear_gradient,
                                     .scale_shift = cpu::scale_shift,
                                     .scale_shift_back = cpu::scale_shift_back,
                                     .add_scaled = cpu::add_scaled,
                                     .dropout = cpu::dropout,
                                     .unit_rows = cpu::unit_rows,
                                     .unit_rows_back = cpu::unit_rows_back,
                                     .cross_entropy = cpu::cross_entropy,
                                     .sgd_step = cpu::sgd_step};

}  // namespace engram
