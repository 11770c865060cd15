// A model in half precision as a GPU would compute it, on a CPU that cannot.
//
// OpenVINO's CPU plug-in computes half-precision models in float and rounds nothing but weights. An
// operation of ours behind every result of type half rounds it to half and back, beyond 65504 to
// infinity: what is kept between operations is then exactly what half keeps. Inside an operation
// sums are of floats, as in tensor cores that accumulate in float. Slow; for checks.
#pragma once

#include <memory>

#include <openvino/openvino.hpp>

namespace engram {

// Returns how many results are rounded now; 0: the model has no halves.
int round_halves(ov::Model& model);

}  // namespace engram
