// Features to class scores: projection and readout, without statistics. What a reader needs.
//
//     f > h (engine/projection.h) > s = Wo h + Wf f (engine/readout_scores.h)
//
// A Learner has one; a program that only classifies makes one from the state's config and readout:
// it takes the weights and one batch of scratch, never M x M.
#pragma once

#include <memory>
#include <span>

#include "engine/config.h"
#include "engine/readout.h"
#include "kernels/chosen_kernels.h"
#include "platform/matrix_view.h"
#include "platform/status.h"

namespace engram {

class Arena;
class Projection;
struct ProjectionScratch;

class Scorer {
 public:
  static Result<Scorer> create(const LearnerConfig& config,
                               const Kernels& kernels = chosen_kernels());
  // With weights that others use too and memory from their arena.
  static Scorer share(std::shared_ptr<const Projection> projection, Arena& arena);
  Scorer(Scorer&&) noexcept;
  Scorer& operator=(Scorer&&) noexcept;
  ~Scorer();

  const Kernels& kernels() const;  // that it computes with

  // Scores (B, K) of the readout's classes from features (B, L). Any B; allocates nothing.
  // Refuses NaN, Inf, a wrong width, a readout of another M; what it wrote is of no use then. One
  // caller at a time. If the device is lost, one that create() made computes them again on the CPU,
  // and all later ones.
  Status score(MatrixView<const float> features, const Readout& readout, MatrixView<float> scores);
  // The same, and the leverage (B) of each row by the readout's probes; 0 where it has none.
  Status score(MatrixView<const float> features, const Readout& readout, MatrixView<float> scores,
               std::span<float> leverages);

 private:
  Status score_once(MatrixView<const float> features, const Readout& readout,
                    MatrixView<float> scores, std::span<float> leverages);
  struct Impl;
  explicit Scorer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace engram
