// The options of `engram evaluate`; tools/evaluate/evaluation_options.h says what they mean.
#pragma once

#include "tools/evaluate/evaluation_options.h"

namespace CLI {
class App;
}

namespace engram {

void add_evaluate_options(CLI::App& command, EvaluateOptions& options);

}  // namespace engram
