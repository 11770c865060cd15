#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "platform/sentence.h"
#include "tools/commands/add_model_options.h"
#include "tools/commands/commands.h"
#include "tools/commands/options.h"
#include "tools/console/progress.h"
#include "tools/console/terminal.h"
#include "tools/convert/scratch_folder.h"
#include "tools/demo_report.h"
#include "tools/demo_show.h"
#include "tools/exit_code.h"
#include "tools/live/stop_signals.h"
#include "tools/open_model.h"
#include "tools/output_folder.h"

namespace engram {
namespace {

struct DemoOptions {
  StageOptions stage;
  DemoShow show;
  std::string out;
  bool keep = false;
  LearnerOptions learner;
};

// The model is there, or is added now and said so.
Status ensure_model(const Session& session, const std::string& name) {
  const auto model = ModelStore(session.global.home).find(name);
  if (model.ok() || model.status().code() != Code::not_found) return model.status();
  session.console.note(fmt::format("{} is not on this machine yet: adding it\n", printable(name)));
  AddModelRequest request;
  request.name_or_file = name;
  request.home = session.global.home;
  request.threads = session.global.threads;
  const Result<ModelCard> card = add_model_with_progress(request, session.console);
  return card.status();
}

// Nobody waits for the rest, or nobody reads it (engram demo | head).
Status check_wanted(const StopSignals& signals) {
  const char* const kept = "Nothing was kept; the temporary learner is removed.";
  if (signals.stopped()) return Status(Code::busy, fmt::format("stopped as asked. {}", kept));
  if (std::ferror(stdout) == 0) return {};
  return Status(Code::io_failure,
                fmt::format("the answer could not be written: standard output takes no more. {} "
                            "Make room on its disk, or send it elsewhere.",
                            kept));
}

Result<int> run_demo(const Session& session, const DemoOptions& options) {
  const Console& console = session.console;
  const std::string model = session.global.model.empty() ? kDefaultModel : session.global.model;
  ENGRAM_ASSIGN(const LearnerConfig config, apply(options.learner, LearnerConfig{}));
  ENGRAM_ASSIGN(ScratchFolder scratch, ScratchFolder::make());
  const std::string state = scratch.path() + "/state";
  const std::string out = options.out.empty() ? scratch.path() : options.out;
  ENGRAM_ASSIGN(const OutputFolder kept, OutputFolder::make(out));
  ENGRAM_TRY(ensure_model(session, model));
  const StopSignals signals;  // as with SIGPIPE, the temporary state would stay
  std::signal(SIGPIPE, SIG_IGN);

  Result<Stage> stage = [&] {
    const Progress progress(console.shows_progress(), "set the stage");
    return Stage::open(options.stage);
  }();
  if (!stage.ok()) return stage.status();
  for (const std::string& why : stage->skipped()) console.warn(sentence(why) + " It is not shown.");
  Result<Recogniser> recogniser = [&] {
    const Progress progress(console.shows_progress(), "open the backbone");
    return Recogniser::open({.state = state,
                             .home = session.global.home,
                             .model = model,
                             .threads = session.global.threads,
                             .config = config});
  }();
  if (!recogniser.ok()) return recogniser.status();

  console.note(fmt::format(
      "{} objects before a virtual camera; {} frames of each are learned, one object after "
      "another,\nand after each one {} new views of every object so far are asked for. "
      "Backbone {}, M {}.\n\n",
      stage->objects(), options.show.frames, options.show.views, printable(model), config.hidden));
  DemoTable table(console, options.show);
  const auto on_object = [&](const std::string& object) -> Status {
    ENGRAM_TRY(check_wanted(signals));
    table.begin(object);
    return {};
  };
  const DemoWatcher watcher{on_object, [&](const DemoRound& round) { table.add(round); }};
  ENGRAM_ASSIGN(const DemoResult result, run_demo_show(*recogniser, *stage, options.show, watcher));
  console.answer(demo_summary(result, options.show));  // also where the files cannot be written
  ENGRAM_ASSIGN(const DemoFiles files, write_demo_files(result, out));
  const std::string digest = recogniser->store()->learner().digest();
  console.note(
      fmt::format("\nplot      {}\npictures  {}\n", printable(files.plot), printable(files.sheet)));
  nlohmann::ordered_json answer = demo_json(result, options.show);
  answer["model"] = model;
  answer["seed"] = options.stage.seed;
  answer["digest"] = digest;
  answer["plot"] = files.plot;
  answer["pictures"] = files.sheet;
  if (options.keep) {
    console.note(
        fmt::format("state     {0}    try: engram classes --state {0}\n", printable(state)));
    answer["state"] = state;
  } else {
    std::error_code ignored;
    std::filesystem::remove_all(state, ignored);
  }
  if (options.keep || options.out.empty()) scratch.release();
  console.object(answer);
  return stage->skipped().empty() ? 0 : kExitSomeSkipped;
}

}  // namespace

void add_demo(CLI::App& app, Session& session) {
  const auto options = std::make_shared<DemoOptions>();
  const Manual manual{
      .name = "demo",
      .summary = "see it learn twelve objects one at a time; no camera needed",
      .synopsis = "engram demo [--out DIR] [--keep] [--seed N]",
      .description =
          "Photos of real objects (Debian's tuxpaint-stamps-default) appear before a virtual "
          "camera: placed, turned, lit and blurred at random, before changing backgrounds. Each "
          "object is learned from a few frames, on its own, never to be shown again; after each "
          "one, new views of all objects so far are classified. Prints a row per object and writes "
          "a plot (SVG) and a sheet of what the camera saw (PNG): on the left of each pair a frame "
          "that was learned, on the right a new view, framed green when it was recognised.\n\n"
          "The learner is a temporary state, removed at the end unless --keep. The same --seed "
          "gives the same pictures and the same statistics to the bit.",
      .example =
          "engram demo\n"
          "engram demo --frames 3 --out demo"};
  CLI::App* command = add_command(app, session, manual,
                                  [&session, options] { return run_demo(session, *options); });
  command->add_option("--out", options->out, "Where the pictures go (default: a temporary folder)")
      ->type_name("DIR");
  command->add_option("--objects", options->stage.objects, "Objects to learn (default 12)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  command->add_option("--frames", options->show.frames, "Frames learned of each (default 8)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  command->add_option("--views", options->show.views, "New views asked of each (default 10)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  command->add_option("--stamps", options->stage.stamps, "Other cut-out PNG pictures to show")
      ->type_name("DIR");
  command->add_option("--seed", options->stage.seed, "Of what the camera sees (default 1)")
      ->type_name("N")
      ->check(seed_number());
  command->add_flag("--keep", options->keep, "Keep the learner's state and say where it is");
  add_learner_options(*command, options->learner, "--projection-seed");
}

}  // namespace engram
