// Learning at once, dense form: Woodbury's identity on the factor of the last solve.
//
// UT U = A = G0 + lambda I and the readout W0 are of the last full solve; p rows Hp with their
// labels came since. With
//     V (p, M) = Hp A^-1,   S (p, p) = I + V HpT,   E (p, K) = Y - Hp W0
// the readout of everything at the same lambda is, exactly,
//     Wo (K, M) = W0 + ET S^-1 V
// S is kept as a GramView, so that its factor grows with the rows (factor_append, lambda 1).
//
// Cost of b more rows. 2 M^2 b operations for V, 2 M K p for the readout; memory 8 M bytes a pending
// row. At M / 8 rows that is a quarter of G, and a batch of as many would take as long as a
// factorisation: then a full solve is due (pending_limit() of engine/learner_impl.h).
//
// Numerics. Float; S has no eigenvalue below 1, so that the accuracy is that of solving with U.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/chosen_kernels.h"
#include "kernels/gram_view.h"
#include "platform/matrix_view.h"
#include "platform/status.h"

namespace engram {

class Woodbury {
 public:
  Woodbury(const Kernels& kernels, int hidden_units) : kernels_(&kernels), units_(hidden_units) {}

  // After a full solve: nothing is pending, and the memory is given back.
  void clear();
  int pending() const { return int(classes_.size()); }

  // gram: its upper triangle holds the factor of the last solve. h (b, M), classes (b). A failure, also
  // by bad_alloc, leaves what was pending.
  Status add(GramView gram, MatrixView<const float> h, std::span<const std::int32_t> classes);
  // base (K0, M): the readout of the last solve. readout (K, M), K >= K0: written in full.
  Status solve(MatrixView<const float> base, MatrixView<float> readout) const;

 private:
  Status extend(GramView gram, MatrixView<const float> h, std::span<const std::int32_t> classes);
  GramView small() const;
  void reserve_small(int size);

  const Kernels* kernels_;
  int units_;
  std::vector<std::int32_t> classes_;  // (p)
  std::vector<float> hidden_;          // (p, M): Hp
  std::vector<float> solved_;          // (p, M): V
  mutable std::vector<float> small_;   // (capacity, capacity): S - I below, its factor above
  mutable std::vector<float> small_diagonal_;
  int capacity_ = 0;
};

}  // namespace engram
