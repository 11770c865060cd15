// `engram bench live`, below `engram bench`.
#pragma once

#include "tools/session.h"

namespace engram {

void add_bench_live(CLI::App& bench, Session& session);

}  // namespace engram
