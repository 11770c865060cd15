// `engram bench models`, below `engram bench`.
#pragma once

#include "tools/session.h"

namespace engram {

void add_bench_models(CLI::App& bench, Session& session);

}  // namespace engram
