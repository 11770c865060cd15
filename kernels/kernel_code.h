// What nvcc made of each kernel: instructions counted in its machine code (budget.json, written by
// tests/kernel_budget.py, which says how they are counted). Compiled into the program.
#pragma once

#include <string>
#include <vector>

namespace engram {

// Of one warp, by the units that execute them: tests/support/sass.py.
struct InstructionCounts {
  double issued = 0;  // all
  double tensor = 0;
  double floats = 0;    // FP32
  double multiply = 0;  // whole-number multiplications
  double integer = 0;
  double convert = 0;
  double doubles = 0;
  double moved_bytes = 0;  // of a thread, by loads and stores of global and shared memory
  double primary = 0;      // the instruction that does the work

  InstructionCounts& add(const InstructionCounts& other, double times);
};

struct KernelCode {
  int threads = 0;           // of a block
  int occupancy = 0;         // %
  InstructionCounts once;    // outside of loops
  InstructionCounts around;  // an iteration of the loops around the main one
  InstructionCounts main;    // an iteration of the main loop
};

std::vector<std::string> compiled_kernels();  // the names in budget.json
// Null: budget.json has no such kernel ("gram_update.gram_update") or target ("sm_87").
const KernelCode* kernel_code(const std::string& kernel, const std::string& target);

}  // namespace engram
