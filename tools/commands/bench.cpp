#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "kernels/backend.h"
#include "platform/file.h"
#include "platform/threads.h"
#include "platform/version.h"
#include "tools/backend_report.h"
#include "tools/bench/kernel_bench_report.h"
#include "tools/commands/bench_live.h"
#include "tools/commands/bench_models.h"
#include "tools/commands/commands.h"
#include "tools/console/progress.h"
#include "tools/console/units.h"
#include "tools/estimate_report.h"
#include "tools/exit_code.h"
#include "tools/machine_state.h"

namespace engram {
namespace {

constexpr std::size_t kLargestReport = std::size_t{64} << 20;

struct BenchCommand {
  BenchOptions bench;
  std::string csv, compare;
};

Status check_operations(const std::vector<std::string>& operations) {
  const std::vector<std::string> known = bench_operations();
  for (const std::string& operation : operations) {
    if (std::find(known.begin(), known.end(), operation) != known.end()) continue;
    return Status(Code::invalid_argument,
                  fmt::format("--operation {}: there is none of that name. There are: {}.",
                              operation, fmt::join(known, ", ")));
  }
  return Status();
}

// The CPU always, and the GPU that is in use.
std::vector<BenchBackend> backends() {
  std::vector<BenchBackend> all{{}};
  if (const Backend& used = backend_in_use(); used.device) {
    all.push_back({used.kernels, used.memory, peaks_in_use()});
  }
  return all;
}

// Exit code: slower is 4, and a comparison of nothing is none.
int compare(const Console& console, const std::string& path, const std::vector<BenchRow>& before,
            const std::vector<BenchRow>& rows, nlohmann::ordered_json& report) {
  const std::vector<BenchChange> changes = compare_bench(before, rows);
  const std::vector<BenchRow> missing = missing_rows(before, rows);
  const auto slower = std::count_if(changes.begin(), changes.end(),
                                    [](const BenchChange& change) { return change.is_slower(); });
  if (!changes.empty()) {
    console.answer(fmt::format("\nAgainst {}:\n\n", path) +
                   changes_text(changes, console.colour()));
  }
  if (!missing.empty()) {
    console.answer(fmt::format("\nOf {}, not measured now:\n", path) + missing_text(missing));
  }
  if (changes.empty()) {
    console.warn(
        fmt::format("Nothing was compared: no row of {} was measured now. Give the same "
                    "--operation, --hidden, --batch and --backend as then.",
                    path));
  }
  if (slower > 0) {
    console.warn(fmt::format("{} of {} slower than noise explains.", slower,
                             plural(std::int64_t(changes.size()), "row is", "rows are")));
  }
  report["changes"] = changes_json(changes);
  report["missing"] = missing_json(missing);
  if (changes.empty()) return exit_code(Code::bad_data);
  return slower > 0 ? kExitSlower : 0;
}

Result<int> run_bench(const Session& session, const BenchCommand& command) {
  ENGRAM_TRY(check_operations(command.bench.operations));
  std::vector<BenchRow> before;
  if (!command.compare.empty()) {  // before minutes are spent
    ENGRAM_ASSIGN(const std::vector<std::byte> bytes, read_file(command.compare, kLargestReport));
    const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    ENGRAM_ASSIGN(before, parse_bench(text, command.compare));
  }
  const Console& console = session.console;
  const MachineState start = machine_state(command.bench.root);
  std::vector<BenchRow> rows;
  {
    Progress progress(console.shows_progress(), "bench");
    for (const BenchBackend& backend : backends()) {
      ENGRAM_ASSIGN(
          const std::vector<BenchRow> more,
          bench_kernels(backend, command.bench, [&](const BenchRow&) { progress.advance(); }));
      rows.insert(rows.end(), more.begin(), more.end());
    }
  }
  console.answer(fmt::format("engram {}, {}, {}\n{}\n\n", version(), backend_text(),
                             plural(thread_count(), "thread", "threads"), state_text(start)));
  console.answer(bench_text(rows, console.colour()));
  console.answer(
      "\nCold: after 64 MB of other data. Warm: the median of calls that follow the same call; "
      "noise is "
      "half\nof the middle half of them. GB/s and GFLOP/s count what cannot be avoided. A GPU is "
      "timed "
      "by itself,\nwithout starting it. A CPU's peaks are what our own kernels reach on large "
      "operands: "
      "what fits a cache,\nand products of whole numbers, can exceed them.\n" +
      missing_estimates());
  nlohmann::ordered_json report{{"version", version()},
                                {"backend", backend_json()},
                                {"threads", thread_count()},
                                {"state", state_json(start)},
                                {"rows", bench_json(rows)}};
  if (!command.csv.empty()) {
    const std::string csv = bench_csv(rows);
    ENGRAM_TRY(replace_file(command.csv, std::as_bytes(std::span(csv))));
  }
  int code = 0;
  if (!command.compare.empty()) code = compare(console, command.compare, before, rows, report);
  console.object(report);
  return code;
}

CLI::Option* add_list(CLI::App& command, const char* name, std::vector<int>& values,
                      const char* description, const char* type) {
  return command.add_option(name, values, description)
      ->type_name(type)
      ->delimiter(',')
      ->check(CLI::Range(1, 65536));
}

}  // namespace

void add_bench(CLI::App& app, Session& session) {
  CLI::App* bench = add_command(app, session,
                                {.name = "bench",
                                 .summary = "how fast this machine is",
                                 .synopsis = "engram bench kernels ...\nengram bench live ...\n"
                                             "engram bench models NAME...",
                                 .description = "Measures parts of the learner on this machine.",
                                 .example = "engram bench kernels"},
                                nullptr);
  bench->require_subcommand(1);
  add_bench_live(*bench, session);
  add_bench_models(*bench, session);
  const auto options = std::make_shared<BenchCommand>();
  CLI::App* command = add_command(
      *bench, session,
      {.name = "kernels",
       .summary = "time every operation on the CPU, and on the GPU where there is one",
       .synopsis = "engram bench kernels [--operation NAMES] [--hidden M,...] [--batch B,...] "
                   "[--csv FILE] [--compare OLD.json]",
       .description =
           "Every operation, backend and shape: cold and warm, median and noise, GB/s, GFLOP/s, "
           "the "
           "share of the machine's peak, and on a GPU the estimate beside it. With each row goes "
           "what "
           "the machine says of clocks, power mode, temperature and throttling. --compare exits "
           "with 4 when something is slower than in an earlier --json by more than noise explains, "
           "and with 65 when that has none of the rows measured now.",
       .example = "engram bench kernels --json > old.json\n"
                  "engram bench kernels --compare old.json"},
      [&session, options] { return run_bench(session, *options); });
  BenchOptions& b = options->bench;
  command->add_option("--operation", b.operations, "Only these (default: all)")
      ->type_name("NAMES")
      ->delimiter(',');
  add_list(*command, "--hidden", b.units, "M, hidden units (default 2000,5000)", "M");
  add_list(*command, "--batch", b.frames, "B, frames of a call (default 1,16,48,256)", "B");
  add_list(*command, "--features", b.features, "L, features (default 1280)", "L");
  command->add_option("--classes", b.classes, "K, classes (default 100)")
      ->type_name("K")
      ->check(CLI::Range(1, 65536));
  command->add_option("--samples", b.samples, "N, kept samples (default 1000)")
      ->type_name("N")
      ->check(CLI::Range(1, 65536));
  command->add_option("--pictures", b.pictures, "Of a step of `adapt` (default 8)")
      ->type_name("B")
      ->check(CLI::Range(1, 1024));
  command->add_option("--heads", b.heads, "Of its transformer, each 64 wide (default 12)")
      ->type_name("H")
      ->check(CLI::Range(1, 64));
  command->add_option("--seconds", b.seconds, "For each row (default 0.2)")
      ->type_name("S")
      ->check(CLI::Range(0.001, 60.0));
  command->add_option("--csv", options->csv, "Also as CSV, into this file")->type_name("FILE");
  command->add_option("--compare", options->compare, "A --json of an earlier run")
      ->type_name("FILE");
}

}  // namespace engram
