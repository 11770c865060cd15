// gelu: which curve a transformer's MLP bends by.
//
//   erf     x * Phi(x), Phi the normal distribution's: the definition
//   tanh    x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))
//   quick   x / (1 + exp(-1.702 x)): CLIP's
//   relu    max(x, 0)
#pragma once

#include <cstdint>

namespace engram {

enum class GeluKind : std::uint8_t { erf, tanh, quick, relu };

}  // namespace engram
