// The switch in a copy of a kernel that tests/support/mutate_kernels.py wrote.
#pragma once

namespace engram::simt {

// Is this the fault that was asked for, by ENGRAM_MUTANT in the environment? Usually none is.
bool mutant(int number);

}  // namespace engram::simt
