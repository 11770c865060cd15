#include "tools/bench/kernel_bench_report.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tools/console/table.h"
#include "tools/console/terminal.h"
#include "tools/estimate_report.h"

namespace engram {
namespace {

constexpr double kLeastAllowed = 0.1, kNoiseAllowed = 3;

double rate(double amount, double seconds) {
  return 1e-9 * amount / seconds;
}

bool is_same_case(const BenchRow& a, const BenchRow& b) {
  return a.operation == b.operation && a.backend == b.backend && a.shape == b.shape;
}

// What a file of the system says, in quotes where CSV needs them.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

const char* throttle_word(const BenchRow& row) {
  return !row.throttled ? "" : *row.throttled ? "THROTTLED" : "no";
}

}  // namespace

std::string bench_text(const std::vector<BenchRow>& rows, bool colour) {
  Table table({{"operation"},
               {"backend"},
               {"shape"},
               {"cold", Align::right},
               {"warm", Align::right},
               {"noise", Align::right},
               {"GB/s", Align::right},
               {"GFLOP/s", Align::right},
               {"of peak", Align::right},
               {"estimate", Align::right},
               {"throttled"}});
  for (const BenchRow& row : rows) {
    table.add({row.operation, row.backend, row.shape, time_text(row.cold), time_text(row.warm),
               fmt::format("±{:.0f} %", 100 * row.noise),
               fmt::format("{:.2f}", rate(row.bytes, row.warm)),
               row.operations > 0 ? fmt::format("{:.1f}", rate(row.operations, row.warm)) : "",
               row.peak.empty() ? "" : fmt::format("{:.0f} % {}", 100 * row.share, row.peak),
               row.estimate ? time_text(*row.estimate) : "", throttle_word(row)});
  }
  return table.text(colour);
}

std::string bench_csv(const std::vector<BenchRow>& rows) {
  std::string text =
      "operation,backend,shape,runs,cold_s,warm_s,noise,gb_per_s,gflop_per_s,share_of_peak,peak,"
      "estimate_s,power_mode,governor,cpu_mhz,gpu_mhz,celsius,throttled\n";
  const auto known = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.4g}", *value) : std::string();
  };
  for (const BenchRow& row : rows) {
    text += fmt::format(
        "{},{},{},{},{:.6g},{:.6g},{:.4f},{:.4g},{:.4g},{:.4f},{},{},{},{},{},{},{},{}\n",
        row.operation, row.backend, row.shape, row.runs, row.cold, row.warm, row.noise,
        rate(row.bytes, row.warm), rate(row.operations, row.warm), row.share, row.peak,
        known(row.estimate), csv_field(row.state.power_mode), csv_field(row.state.governor),
        known(row.state.cpu_mhz), known(row.state.gpu_mhz), known(row.state.celsius),
        !row.throttled   ? ""
        : *row.throttled ? "1"
                         : "0");
  }
  return text;
}

nlohmann::ordered_json bench_json(const std::vector<BenchRow>& rows) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const BenchRow& row : rows) {
    nlohmann::ordered_json one{{"operation", row.operation},
                               {"backend", row.backend},
                               {"shape", row.shape},
                               {"runs", row.runs},
                               {"cold_seconds", row.cold},
                               {"warm_seconds", row.warm},
                               {"noise", row.noise},
                               {"bytes", row.bytes},
                               {"operations", row.operations},
                               {"gb_per_second", rate(row.bytes, row.warm)},
                               {"gflop_per_second", rate(row.operations, row.warm)},
                               {"share_of_peak", row.share},
                               {"peak", row.peak},
                               {"state", state_json(row.state)}};
    if (row.estimate) one["estimated_seconds"] = *row.estimate;
    if (row.throttled) one["throttled"] = *row.throttled;
    all.push_back(one);
  }
  return all;
}

Result<std::vector<BenchRow>> parse_bench(const std::string& text, const std::string& path) {
  const nlohmann::json file = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  std::vector<BenchRow> rows;
  bool is_good = file.is_object() && file.contains("rows") && file["rows"].is_array();
  if (is_good) {
    for (const nlohmann::json& row : file["rows"]) {
      const auto has = [&row](const char* name, bool (nlohmann::json::*is)() const noexcept) {
        return row.is_object() && row.contains(name) && (row[name].*is)();
      };
      is_good = is_good && has("operation", &nlohmann::json::is_string) &&
                has("backend", &nlohmann::json::is_string) &&
                has("shape", &nlohmann::json::is_string) &&
                has("warm_seconds", &nlohmann::json::is_number) &&
                has("noise", &nlohmann::json::is_number) && row["warm_seconds"] > 0;
      if (!is_good) break;
      rows.push_back({.operation = row["operation"],
                      .backend = row["backend"],
                      .shape = row["shape"],
                      .warm = row["warm_seconds"],
                      .noise = row["noise"]});
    }
  }
  if (is_good) return rows;
  return Status(Code::bad_data, fmt::format("{} is not what `engram bench kernels --json` writes; "
                                            "nothing was compared.",
                                            path));
}

std::vector<BenchChange> compare_bench(const std::vector<BenchRow>& before,
                                       const std::vector<BenchRow>& now) {
  std::vector<BenchChange> changes;
  for (const BenchRow& row : now) {
    const auto old = std::find_if(before.begin(), before.end(), [&row](const BenchRow& other) {
      return is_same_case(row, other);
    });
    if (old == before.end()) continue;
    changes.push_back({&*old, &row, row.warm / old->warm,
                       std::max(kLeastAllowed, kNoiseAllowed * (row.noise + old->noise))});
  }
  return changes;
}

std::vector<BenchRow> missing_rows(const std::vector<BenchRow>& before,
                                   const std::vector<BenchRow>& now) {
  std::vector<BenchRow> missing;
  for (const BenchRow& old : before) {
    if (std::none_of(now.begin(), now.end(),
                     [&old](const BenchRow& row) { return is_same_case(row, old); })) {
      missing.push_back(old);
    }
  }
  return missing;
}

std::string missing_text(const std::vector<BenchRow>& missing) {
  std::string text;
  for (const BenchRow& row : missing) {
    text += printable(fmt::format("  {} {} {}", row.operation, row.backend, row.shape)) + "\n";
  }
  return text;
}

std::string changes_text(const std::vector<BenchChange>& changes, bool colour) {
  Table table({{"operation"},
               {"backend"},
               {"shape"},
               {"before", Align::right},
               {"now", Align::right},
               {"change", Align::right},
               {"noise explains", Align::right},
               {""}});
  for (const BenchChange& change : changes) {
    table.add({change.now->operation, change.now->backend, change.now->shape,
               time_text(change.before->warm), time_text(change.now->warm),
               fmt::format("{:+.0f} %", 100 * (change.ratio - 1)),
               fmt::format("{:.0f} %", 100 * change.allowed),
               change.is_slower()   ? "SLOWER"
               : change.is_faster() ? "faster"
                                    : ""});
  }
  return table.text(colour);
}

nlohmann::ordered_json changes_json(const std::vector<BenchChange>& changes) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const BenchChange& change : changes) {
    all.push_back({{"operation", change.now->operation},
                   {"backend", change.now->backend},
                   {"shape", change.now->shape},
                   {"before_seconds", change.before->warm},
                   {"now_seconds", change.now->warm},
                   {"ratio", change.ratio},
                   {"allowed", change.allowed},
                   {"slower", change.is_slower()}});
  }
  return all;
}

nlohmann::ordered_json missing_json(const std::vector<BenchRow>& missing) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const BenchRow& row : missing) {
    all.push_back({{"operation", row.operation}, {"backend", row.backend}, {"shape", row.shape}});
  }
  return all;
}

}  // namespace engram
