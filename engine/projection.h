// Features to hidden units: the random projection of a learner, in either arithmetic.
//
//     exact:     q = quantise(f)   p = q W   h = activate(p)        W in {-1,+1}, one bit each
//     floating:  h = phi(f W)                                       W Gaussian or -1 and +1
//     floating, hidden = 0:  h = f
//
// W is a pure function of (seed, l, m), the same on every machine and for every M: the weights of a
// smaller M are the first columns of those of a larger one. Word (k, m) of the packed signs is word
// m % 4 of philox({m / 4, k, 0, signs}, seed). Gaussian: philox({m / 2, l, 0, gaussian}, seed)
// gives two 53-bit numbers, and those by Box-Muller in double W[l,m] and W[l,m+1] for even m.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/config.h"
#include "engine/leverage.h"
#include "kernels/chosen_kernels.h"
#include "kernels/sign_project.h"
#include "platform/arena.h"
#include "platform/matrix_view.h"
#include "platform/status.h"

namespace engram {

// Memory of one caller for one batch.
struct ProjectionScratch {
  static ProjectionScratch take(const LearnerConfig& config, int rows, Arena& arena);
  static std::size_t bytes(const LearnerConfig& config, int rows);

  MatrixView<std::int8_t> q;            // (rows, L), exact only
  MatrixView<std::int32_t> p;           // (rows, M), exact only
  MatrixView<std::int32_t> not_finite;  // (1, rows), exact only: of features (quantise.h)
  MatrixView<float> h;                  // (rows, M)
  MatrixView<float> f;                  // (rows, L), exact only: q as floats
  MatrixView<float> products;           // (rows, kLeverageProbes), of h and the probes
  float* tile = nullptr;                // of scores (engine/readout_scores.h)
};

class Projection {
 public:
  Projection(const LearnerConfig& config, const Kernels& kernels, Arena& arena);

  const LearnerConfig& config() const { return config_; }
  const Kernels& kernels() const { return kernels_; }
  std::size_t row_bytes() const { return row_bytes(config_); }  // of a SampleBatch
  static std::size_t row_bytes(const LearnerConfig& config);

  // Features (B, L) to B rows of a SampleBatch. Any B. exact: bad_data if they are not finite, as
  // check_features says it; floating: they are.
  Status encode(MatrixView<const float> features, std::byte* rows) const;
  // Rows of a SampleBatch to h (B, M), B at most the rows of scratch. Uses scratch.p only.
  Status from_rows(const std::byte* rows, const ProjectionScratch& scratch,
                   MatrixView<float> h) const;
  // Rows of a SampleBatch as the numbers they stand for (B, L), B as above. exact: in scratch.f;
  // floating: the rows themselves.
  MatrixView<const float> features_of(const std::byte* rows, int count,
                                      const ProjectionScratch& scratch) const;
  // Features (B, L) to h (B, M), B as above. Uses scratch.q and scratch.p, and writes
  // scratch.not_finite: for check_finite, when this and the sequence it may be part of are done.
  Status from_features(MatrixView<const float> features, const ProjectionScratch& scratch,
                       MatrixView<float> h) const;

 private:
  Status project(MatrixView<const float> features, MatrixView<float> h) const;

  LearnerConfig config_;
  const Kernels& kernels_;
  SignMatrixView signs_;             // exact
  MatrixView<const float> weights_;  // floating; empty when hidden = 0
};

// One row of a SampleBatch as L floats.
void widen_row(const LearnerConfig& config, const std::byte* row, float* features);

// Bits of 32 signs, W[32k..32k+31, m]; and one Gaussian weight.
std::uint32_t sign_word(std::uint64_t seed, int k, int m);
float gaussian_weight(std::uint64_t seed, int l, int m);

}  // namespace engram
