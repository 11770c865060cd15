// Options that more than one command has, described in one place.
#pragma once

#include "tools/learner_options.h"
#include "tools/session.h"

namespace CLI {
class App;
class Validator;
}  // namespace CLI

namespace engram {

void add_global_options(CLI::App& app, GlobalOptions& options);
// Those that name one kind of learner: arithmetic, weights, keep-features.
void add_kind_options(CLI::App& command, LearnerOptions& options);
// All of them. `seed_option`: what the seed of the projection is called in this command.
void add_learner_options(CLI::App& command, LearnerOptions& options,
                         const char* seed_option = "--seed");

// A whole number from 0 to 2^64 - 1; CLI11 takes -1 and 1e30 for the largest.
CLI::Validator seed_number();
// Anything but an empty word.
CLI::Validator not_empty();
// A number within both; CLI::Range lets NaN through.
CLI::Validator between(double least, double most);

}  // namespace engram
