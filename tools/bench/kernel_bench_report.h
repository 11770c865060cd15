// Rows of `engram bench kernels` as text, CSV and JSON, and against those of an earlier run.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tools/bench/kernel_bench.h"

namespace engram {

std::string bench_text(const std::vector<BenchRow>& rows, bool colour);
std::string bench_csv(const std::vector<BenchRow>& rows);
nlohmann::ordered_json bench_json(const std::vector<BenchRow>& rows);

// What --json wrote: only what a comparison needs. bad_data: it is something else.
Result<std::vector<BenchRow>> parse_bench(const std::string& text, const std::string& path);

struct BenchChange {
  const BenchRow *before, *now;
  double ratio;    // of warm times, above 1: slower
  double allowed;  // what noise explains: three times that of both runs, at least a tenth
  bool is_slower() const { return ratio > 1 + allowed; }
  bool is_faster() const { return ratio < 1 / (1 + allowed); }
};
// Rows that both have, by operation, backend and shape.
std::vector<BenchChange> compare_bench(const std::vector<BenchRow>& before,
                                       const std::vector<BenchRow>& now);
// Rows of `before` that `now` has not: nothing is known of them.
std::vector<BenchRow> missing_rows(const std::vector<BenchRow>& before,
                                   const std::vector<BenchRow>& now);
std::string missing_text(const std::vector<BenchRow>& missing);  // a line each
std::string changes_text(const std::vector<BenchChange>& changes, bool colour);
nlohmann::ordered_json changes_json(const std::vector<BenchChange>& changes);
nlohmann::ordered_json missing_json(const std::vector<BenchRow>& missing);

}  // namespace engram
