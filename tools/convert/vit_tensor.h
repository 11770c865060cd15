// Constants while a graph is simplified: weights, and the whole numbers that shapes are made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "platform/onnx_graph.h"
#include "platform/status.h"

namespace engram {

using Dims = std::vector<std::int64_t>;

struct FoldedTensor {
  Dims dims;           // row-major; {}: one number
  bool whole = false;  // which of the two holds the values
  std::vector<float> reals;
  std::vector<std::int64_t> wholes;  // truth values too: 0 and 1

  std::size_t size() const { return whole ? wholes.size() : reals.size(); }
  double at(std::size_t i) const {
    return whole ? static_cast<double>(wholes[i]) : static_cast<double>(reals[i]);
  }
};
using ConstantTensor = std::shared_ptr<const FoldedTensor>;

// No tensor of an encoder for one picture has more values than this; a file that claims so is
// refused before anything is allocated.
inline constexpr std::int64_t kMostValues = std::int64_t{1} << 26;

// The product of dims; -1: negative sizes, or beyond kMostValues.
std::int64_t value_count(const Dims& dims);
// "1 x 257 x 384"
std::string shape_text(const Dims& dims);
// By numpy's rule; empty Result text where they do not go together.
Result<Dims> broadcast(const Dims& a, const Dims& b);
// `axis` of 0..rank-1 from one that may count from the end; -1: there is no such axis.
int normal_axis(std::int64_t axis, std::size_t rank);

// Weights of 16, 32 and 64 bits and whole numbers; not_supported for others. A tensor as a
// TensorProto (an attribute), or one that was read already.
Result<FoldedTensor> fold_constant(OnnxConstant constant);

// What simplifying may cost in all, in values written: a hostile file must not hang us.
class WorkBudget {
 public:
  Status take(std::int64_t values);

 private:
  std::int64_t left_ = std::int64_t{1} << 30;
};

}  // namespace engram
