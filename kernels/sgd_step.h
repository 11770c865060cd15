// sgd_step: one step of stochastic gradient descent with momentum and weight decay (PyTorch's SGD).
//
//     v = momentum * v + (g + decay * p)
//     p = p - rate * v
//
//   name       shape    type    meaning
//   g          (R, C)   float   gradient
//   rate                float   learning rate
//   momentum            float
//   decay               float   weight decay
//   v          (R, C)   float   velocity, zeros before the first step
//   p          (R, C)   float   parameters
//
// Numerics. Rounded to float after each operation, in this order: the same bits on every backend.
#pragma once

#include "platform/matrix_view.h"
#include "platform/status.h"
#include "platform/stream.h"

namespace engram {

// One signature for all backends: a backend that drifts from it does not link.
using SgdStep = Status(Stream stream, MatrixView<const float> g, float rate, float momentum,
                       float decay, MatrixView<float> v, MatrixView<float> p);

namespace cpu {
SgdStep sgd_step;  // sgd_step_cpu.cpp
}
namespace cuda {
SgdStep sgd_step;  // sgd_step.cu, compiled by nvcc
}
namespace simt {
SgdStep sgd_step;  // sgd_step.cu, compiled by the host compiler
}

}  // namespace engram
