#include <filesystem>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "engine/recogniser.h"
#include "platform/sentence.h"
#include "tools/commands/commands.h"
#include "tools/commands/options.h"
#include "tools/console/progress.h"
#include "tools/console/terminal.h"
#include "tools/edit_report.h"
#include "tools/exit_code.h"
#include "tools/learn_report.h"
#include "tools/learn_run.h"
#include "tools/open_model.h"
#include "tools/pictures/picture_stream.h"
#include "tools/pictures/precheck.h"
#include "tools/pictures/tree.h"

namespace engram {
namespace {

struct LearnOptions {
  std::string label, tree, labels;
  std::vector<std::string> files;
  bool strict = false, keep_open = false, end_task = false;
  LearnerOptions learner;
};

// "engram learn a.jpg b.jpg": the label was forgotten, and a class called a.jpg is not what is meant.
Status check_is_no_input(const std::string& label) {
  std::error_code error;
  const bool is_path =
      label.find('/') != std::string::npos && std::filesystem::exists(label, error);
  if (!is_path && !is_picture_file(label)) return {};
  return Status(Code::invalid_argument,
                fmt::format("the first word is the label, and {} is a file or folder here. Nothing "
                            "was changed. Say what the pictures show: engram learn LABEL {} ...",
                            printable(label), printable(label)));
}

// From whichever way the user named them.
Result<Tree> items_to_learn(const LearnOptions& options) {
  const bool listed = !options.tree.empty() || !options.labels.empty();
  if (options.end_task && !listed && options.label.empty()) return Tree{};
  if (listed) {
    if (!options.label.empty()) {
      return Status(Code::invalid_argument,
                    "LABEL FILES and --tree or --labels do not go together: the label would be "
                    "said twice. See engram learn --help.");
    }
    return read_labelled(options.tree, options.labels);
  }
  if (!options.label.empty()) ENGRAM_TRY(check_is_no_input(options.label));
  if (options.label.empty() || options.files.empty()) {
    return Status(Code::invalid_argument,
                  "say what to learn: engram learn LABEL FILES..., or engram learn --tree DIR. See "
                  "engram learn --help.");
  }
  if (const Status status = check_new_label(options.label); !status.ok()) {
    return Status(status.code(), sentence(status.what()) + " Nothing was changed.");
  }
  ENGRAM_ASSIGN(Inputs inputs, expand_inputs(options.files));
  Tree tree;
  tree.skipped = std::move(inputs.skipped);
  for (const std::string& file : inputs.files) tree.items.push_back({file, options.label});
  return tree;
}

// A new state is made only when there is something to put into it.
Result<Recogniser> open_state(const Session& session, const LearnOptions& options,
                              const std::vector<std::string>& paths) {
  const std::string& state = session.global.state;
  const bool exists = Store::exists(state);
  if (!exists && paths.empty()) return no_state(state);
  ENGRAM_TRY(check_owner(state));
  if (!exists && options.strict) {  // opening makes the state, so the model is opened before that
    ENGRAM_ASSIGN(FeatureExtractor extractor, open_model(session.global));
    ENGRAM_TRY(check_all_usable(paths, extractor, session.console));
  } else if (!exists) {
    ENGRAM_TRY(check_any_readable(paths, session.console));
  }
  Recogniser::Options open{.state = state,
                           .home = session.global.home,
                           .model = session.global.model,
                           .threads = session.global.threads,
                           .batch = kPicturesPerBatch,
                           .config = {}};
  ENGRAM_ASSIGN(open.config, apply(options.learner, LearnerConfig{}));
  Result<Recogniser> recogniser = [&] {
    const Progress progress(session.console.shows_progress(), "open");
    return Recogniser::open(open);
  }();
  if (!exists || !recogniser.ok()) return recogniser;
  ENGRAM_TRY(check_agrees(options.learner, recogniser->config(), state));
  if (options.strict) {
    ENGRAM_TRY(check_all_usable(paths, recogniser->extractor(), session.console));
  }
  return recogniser;
}

Result<int> run_learn(const Session& session, const LearnOptions& options) {
  ENGRAM_ASSIGN(const Tree tree, items_to_learn(options));
  for (const SkippedPicture& one : tree.skipped) session.console.warn(one.why.what());
  if (options.strict && !tree.skipped.empty()) {
    return Status(
        Code::bad_data,
        "not everything that was named can be learned (see above), and --strict was asked "
        "for. Nothing was changed.");
  }
  const bool is_new = !Store::exists(session.global.state);
  ENGRAM_ASSIGN(Recogniser recogniser, open_state(session, options, tree.paths()));
  Store& store = *recogniser.store();
  if (!store.recovery_note().empty()) session.console.warn(store.recovery_note());
  const StopSignals signals;
  Result<LearnOutcome> learned = learn_pictures(session, recogniser, tree, signals);
  if (!learned.ok()) {
    // An empty state would hold the next attempt to this one's options. One with samples stays.
    if (is_new) (void)store.discard();
    return learned.status();
  }
  LearnOutcome outcome = std::move(learned).value();
  if (!options.keep_open && has_task_to_end(store.learner())) {
    ENGRAM_ASSIGN(outcome.readout, end_learned_task(session, recogniser, outcome.samples, signals));
  }
  if (!store.note().empty()) session.console.warn(store.note());
  report_learned(session, store.learner(), outcome);
  return outcome.skipped.empty() ? 0 : kExitSomeSkipped;
}

}  // namespace

void add_learn(CLI::App& app, Session& session) {
  const auto options = std::make_shared<LearnOptions>();
  const Manual manual{
      .name = "learn",
      .summary = "learn from labelled pictures",
      .synopsis =
          "engram learn LABEL FILES...\n"
          "engram learn --tree DIR\n"
          "engram learn --labels FILE",
      .description =
          "Learns pictures (JPEG, PNG; folders are searched) and keeps them: each batch is on disk "
          "before it counts as learned. A label may be new or known; nothing learned earlier is "
          "lost. In a tree, the folders on the first level are the labels.\n\n"
          "A picture or folder that cannot be used is named and skipped, and the exit code is 3; "
          "with --strict everything is checked first, and if one is broken nothing changes. "
          "Stopped by "
          "Ctrl-C or kill, it finishes the batch, or leaves the task open where it was solving, "
          "and "
          "says how many are kept (exit code 75). The "
          "first call makes the state; --hidden to --seed say how and cannot change later.",
      .example =
          "$ engram learn mug photos/mug/*.jpg\n"
          "mug  12 samples, 41 img/s, saved (durable) in 0.31 s\n"
          "3 classes, 36 samples in all; lambda 100 (loo), ready to classify after 0.04 s"};
  CLI::App* command = add_command(app, session, manual,
                                  [&session, options] { return run_learn(session, *options); });
  command->add_option("LABEL", options->label, "What the pictures show");
  command->add_option("FILES", options->files, "Pictures, or folders of pictures");
  command->add_option("--tree", options->tree, "A folder per label")->type_name("DIR");
  command->add_option("--labels", options->labels, "A file of lines \"path<TAB>label\"")
      ->type_name("FILE");
  command->add_flag("--strict", options->strict, "Change nothing if one picture is broken");
  command->add_flag("--keep-open", options->keep_open,
                    "Do not end the task: what was learned is kept but does not answer yet");
  command->add_flag("--end-task", options->end_task,
                    "End the open task, if one is; learns nothing by itself");
  add_learner_options(*command, options->learner);
}

}  // namespace engram
