// For headers that pass a table of operations on: what is in one is in kernels.h, which every new
// operation changes, and with it whatever includes it is compiled again.
#pragma once

namespace engram {

struct Kernels;

// The table that this program computes with: the CPU's until it chose another (backend.h).
const Kernels& chosen_kernels();

}  // namespace engram
