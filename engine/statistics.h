// What is learned: G = sum of h hT, C = sum of h yT, and how many samples each class had.
//
//   name     shape    type       meaning
//   gram     (M, M)   GramView   G below the diagonal, the factor of the last solve above
//   sums     (K, M)   float      C, one row per class: a new class is a new row
//   counts   (K)      int64      samples of each class
//
// This is the dense form: memory is M x M whatever the number of samples. A factored form for few
// samples (rows of q instead of G) would have the same meaning and can stand behind the same calls.
//
// Rows of C grow by doubling and only when a class is new; add() allocates nothing.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernels/kernels.h"
#include "platform/arena.h"
#include "platform/growing_buffer.h"
#include "platform/matrix_view.h"
#include "platform/status.h"

namespace engram {

struct ClassInfo {
  std::string label;
  std::int64_t samples = 0;
  bool operator==(const ClassInfo&) const = default;
};

class Statistics {
 public:
  // M x M from the arena; hidden_max 0: not whole numbers (floating arithmetic).
  Statistics(int hidden_units, int hidden_max, const Kernels& kernels, Arena& arena);

  int find_class(const std::string& label) const;  // -1: not known
  // Room for `more` new classes; after ok() that many add_class calls cannot fail.
  Status reserve_classes(int more);
  int add_class(const std::string& label, std::int64_t samples = 0);

  // G += hT h, C[classes[b]] += h[b], counts. h (B, M).
  Status add(MatrixView<const float> h, std::span<const std::int32_t> classes);

  const std::vector<ClassInfo>& classes() const { return classes_; }
  std::int64_t samples() const { return samples_; }
  int hidden_units() const { return gram_.size; }
  const Kernels& kernels() const { return kernels_; }
  const GramView& gram() const { return gram_; }
  MatrixView<float> sums() const;

  // Sum of the diagonal, and the largest eigenvalue of G to a few percent (power iteration from the
  // sum of all h, which is close to the first eigenvector when h >= 0). Allocates 2 M floats.
  double trace() const;
  double largest_eigenvalue() const;

  // Whole numbers: the total number of samples up to which no sum can have rounded. The largest
  // entry of G is on its diagonal and grows by at most hidden_max^2 a sample. 0: not whole numbers.
  std::int64_t exact_until() const { return exact_until_; }
  // Recomputes exact_until from G; once a sum may have rounded, `stored` (of the state) holds.
  void watch_rounding(std::int64_t stored);

  // Equal for equal G, C and counts, whatever the order of classes.
  std::string digest(const std::string& config) const;

 private:
  const Kernels& kernels_;
  GramView gram_;
  GrowingBuffer sums_;
  int class_capacity_ = 0;
  int hidden_max_ = 0;
  std::vector<ClassInfo> classes_;
  std::unordered_map<std::string, int> index_;
  std::int64_t samples_ = 0;
  std::int64_t exact_until_ = 0;
};

}  // namespace engram
