// Which mutant runs.
#include <cstdlib>

#include "tests/support/mutant.h"

namespace engram::simt {

bool mutant(int number) {
  static const int asked_for = [] {
    const char* text = std::getenv("ENGRAM_MUTANT");
    return text != nullptr ? std::atoi(text) : 0;
  }();
  return number == asked_for;
}

}  // namespace engram::simt
