#include "tools/commands/bench_live.h"

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "platform/file.h"
#include "platform/threads.h"
#include "platform/version.h"
#include "tools/backend_report.h"
#include "tools/bench/live_bench.h"
#include "tools/commands/commands.h"
#include "tools/commands/options.h"
#include "tools/console/units.h"
#include "tools/convert/scratch_folder.h"
#include "tools/exit_code.h"
#include "tools/machine_state.h"

namespace engram {
namespace {

struct LiveCommand {
  LiveBenchOptions bench;
  bool marks = false;
  std::string confusion;  // file
  LearnerOptions learner;
};

Result<int> run_live(const Session& session, const LiveCommand& command) {
  const Console& console = session.console;
  ENGRAM_ASSIGN(ScratchFolder scratch, ScratchFolder::make());
  LiveBenchOptions options = command.bench;
  options.recogniser.state = scratch.path() + "/state";
  options.recogniser.home = session.global.home;
  options.recogniser.model = session.global.model;
  options.recogniser.threads = session.global.threads;
  ENGRAM_ASSIGN(options.recogniser.config, apply(command.learner, LearnerConfig{}));
  const MachineState start = machine_state("");
  console.answer(fmt::format("engram {}, {}, {}\n{}\n\n", version(), backend_text(),
                             plural(thread_count(), "thread", "threads"), state_text(start)));
  int number = 0;
  ENGRAM_ASSIGN(
      const LiveBenchResult result, bench_live(options, [&](const LiveBenchRound& round) {
        console.answer(fmt::format("{:>3}  {:<24} {:>4}/{:<4} {:5.1f} %\n", ++number, round.object,
                                   round.right, round.asked, 100.0 * round.right / round.asked));
      }));
  console.answer(live_bench_text(result));
  nlohmann::ordered_json report{{"version", version()},
                                {"backend", backend_json()},
                                {"threads", thread_count()},
                                {"state", state_json(start)}};
  report.update(live_bench_json(result));
  console.object(report);
  if (!command.confusion.empty()) {
    const LiveBenchRound& last = result.rounds.back();
    const std::string svg = confusion_svg(
        result.confusion, fmt::format("{} objects, learned one at a time: {} of {} new views right",
                                      result.rounds.size(), last.right, last.asked));
    ENGRAM_TRY(replace_file(command.confusion, std::as_bytes(std::span(svg))));
  }
  const std::vector<LiveBenchMark> marks = live_marks(result);
  const bool passed = std::all_of(marks.begin(), marks.end(),
                                  [](const LiveBenchMark& mark) { return mark.passed; });
  return passed || !command.marks ? 0 : kExitSlower;
}

}  // namespace

void add_bench_live(CLI::App& bench, Session& session) {
  const auto options = std::make_shared<LiveCommand>();
  CLI::App* command = add_command(
      bench, session,
      {.name = "live",
       .summary = "time the camera app on the stage: taps, frames, learning beside looking",
       .synopsis =
           "engram bench live [--objects N] [--taps N] [--seconds S] [--confusion FILE] [--marks]",
       .description =
           "Objects of the stage (see `engram demo`) are learned one at a time by taps on a live "
           "session; after each one, new views of all of them are asked of the state on disk. "
           "Prints how long a tap takes until it is durable and until it is known, how long a "
           "frame takes to its label, and whether looking gets slower while every frame is taught, "
           "and while taps follow each other without a pause. "
           "--marks exits with 4 when a mark is missed.",
       .example = "engram bench live --objects 20 --marks"},
      [&session, options] { return run_live(session, *options); });
  LiveBenchOptions& b = options->bench;
  command->add_option("--objects", b.stage.objects, "Objects to learn (default 20)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  command->add_option("--taps", b.taps, "Taps for each (default 8)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  command->add_option("--views", b.views, "New views asked of each (default 10)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  command
      ->add_option("--seconds", b.seconds,
                   "Of looking, two thirds of it while it learns (default 30)")
      ->type_name("S")
      ->check(CLI::Range(0.1, 3600.0));
  command->add_option("--fps", b.frames_per_second, "Frames per second of the camera (default 30)")
      ->type_name("N")
      ->check(CLI::Range(1.0, 1000.0));
  command->add_option("--stamps", b.stage.stamps, "Other cut-out PNG pictures to show")
      ->type_name("DIR");
  command
      ->add_option("--confusion", options->confusion,
                   "Who was taken for whom in the end, as SVG into this file")
      ->type_name("FILE");
  command->add_flag("--marks", options->marks, "Exit with 4 when a mark is missed");
  add_learner_options(*command, options->learner);
}

}  // namespace engram
