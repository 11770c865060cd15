// What each operation does on a GPU, by shape: the operands of kernels/roofline.h. Follows the
// launches in kernels/*.cu.
#pragma once

#include <string>
#include <vector>

#include "kernels/roofline.h"

namespace engram {

struct OperationShape {
  int frames = 1;             // B
  int features = 1280;        // L
  int units = 10000;          // M
  int classes = 100;          // K
  int samples = 1000;         // N, kept
  bool whole_numbers = true;  // hidden units
  int tokens = 197;           // S, of a picture, where a vision transformer works
  int heads = 12;             // H, the same
};

// What a learner does: the names of the table in kernels.h, in its order. preprocess is not among them: what it costs
// depends on the picture.
std::vector<std::string> estimated_operations();
// Of first-session adaptation. Their shapes: `frames` rows of activations, `features` wide; a linear map
// makes them `units` wide.
std::vector<std::string> estimated_training_operations();
// Of a vision transformer. Their shapes: `frames` pictures of `tokens` rows, `features` wide in `heads`
// heads; between the two maps of an MLP `units` wide.
std::vector<std::string> estimated_transformer_operations();
bool is_estimated(const std::string& operation);
// Does the time of this operation grow with the batch?
bool has_batch(const std::string& operation);

// `cache_bytes`: what of an operand is read again and again and fits there costs DRAM once.
KernelWork kernel_work(const std::string& operation, const OperationShape& shape,
                       double cache_bytes);

}  // namespace engram
