// Losses of lambda's candidates on a split of the task's samples: `order` says which, the first `learned` of it are learned
// from, the others judge. Rules, loss and numerics: lambda_rule.h.
#pragma once

#include <span>

#include "engine/lambda_rule.h"

namespace engram {

// Fills the candidates and losses of `choice`; candidates below `floor` are not tried.
Status try_split(const LambdaProblem& problem, std::span<const int> order, int learned,
                 double floor, LambdaChoice& choice);

}  // namespace engram
