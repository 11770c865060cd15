#include "tools/learn_run.h"

#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "platform/sentence.h"
#include "platform/steady_time.h"
#include "tools/console/progress.h"
#include "tools/console/units.h"
#include "tools/exit_code.h"
#include "tools/features/finite_features.h"
#include "tools/live/end_if_stopped.h"

namespace engram {
namespace {

// "12 of 40 pictures are learned and kept but do not answer yet ...", and what to do with them.
// `when`: what must come before, as in "once that is mended, "; or nothing.
std::string kept_but_open(std::int64_t samples, const std::string& who, const char* when) {
  const bool one = samples == 1;
  const char* const them = one ? "it" : "them";
  return fmt::format(
      "{} {} learned and kept but {} not answer yet. Do not learn {} again: {}engram learn "
      "--end-task makes {} answer, and engram undo takes {} back.",
      who, one ? "is" : "are", one ? "does" : "do", them, when, them, them);
}

constexpr const char* kOnceMended = "once that is mended, ";

// What failed behind `learned` of `pictures`.
Status stopped_by(const Status& status, std::int64_t learned, std::int64_t pictures) {
  const std::string why = sentence(status.what());
  if (learned > 0) {
    const std::string who =
        fmt::format("{} of {}", learned, plural(pictures, "picture", "pictures"));
    return Status(status.code(), why + " " + kept_but_open(learned, who, kOnceMended));
  }
  if (status.code() != Code::io_failure) return status;
  return Status(status.code(), why + " Nothing was learned; repeat the command then.");
}

Status stopped_as_asked(std::int64_t learned, std::int64_t pictures) {
  if (learned == 0) return Status(Code::busy, "stopped as asked: nothing was learned.");
  const std::string who = fmt::format("{} of {}", learned, plural(pictures, "picture", "pictures"));
  return Status(Code::busy, "stopped as asked: " + kept_but_open(learned, who, ""));
}

// `learned`: by this command.
std::string still_open(std::int64_t learned, const char* when) {
  if (learned > 0) {
    return kept_but_open(learned, plural(learned, "picture", "pictures"), when);
  }
  return fmt::format(
      "The task stays open, with all that was learned: {}engram learn --end-task "
      "makes it answer.",
      when);
}

}  // namespace

Result<LearnOutcome> learn_pictures(const Session& session, Recogniser& recogniser,
                                    const Tree& tree, const StopSignals& signals) {
  LearnOutcome outcome;
  const std::vector<std::string> paths = tree.paths();
  const auto take = [&](std::span<const std::size_t> indices,
                        std::span<const Image> pictures) -> Status {
    std::vector<std::string> labels;
    for (const std::size_t index : indices) labels.push_back(tree.items[index].label);
    const StepPart part = outcome.samples == 0 ? StepPart::begins : StepPart::continues;
    ENGRAM_TRY(recogniser.learn(pictures, labels, part));
    for (const std::string& label : labels) ++outcome.learned[label];
    outcome.samples += std::ssize(labels);
    return {};
  };
  const auto learn = [&](std::span<const std::size_t> indices, std::span<const Image> pictures,
                         std::vector<SkippedPicture>& skipped) -> Status {
    const Status status =
        take_finite(recogniser.extractor(), paths, indices, pictures, skipped, take);
    if (!status.ok()) return stopped_by(status, outcome.samples, std::ssize(paths));
    if (signals.stopped() && indices.back() + 1 < paths.size()) {
      return stopped_as_asked(outcome.samples, std::ssize(paths));
    }
    return {};
  };
  const double start = seconds_now();
  ENGRAM_ASSIGN(outcome.skipped, stream_pictures(paths, "learn", session.console, learn));
  outcome.seconds = seconds_now() - start;
  if (outcome.samples == 0 && !tree.items.empty()) {
    return Status(Code::bad_data, "no picture could be used. Nothing was learned.");
  }
  outcome.skipped.insert(outcome.skipped.end(), tree.skipped.begin(), tree.skipped.end());
  return outcome;
}

bool has_task_to_end(const Learner& learner) {
  return learner.task_samples() > 0 || (learner.samples() > 0 && !learner.readout());
}

Result<ReadoutReport> end_learned_task(const Session& session, Recogniser& recogniser,
                                       std::int64_t learned, const StopSignals& signals) {
  const Status stopped(Code::busy,
                       "stopped as asked, before the task was ended. " + still_open(learned, ""));
  if (signals.stopped()) return stopped;
  Result<ReadoutReport> ended = [&] {
    Progress progress(session.console.shows_progress(), "solve");
    EndIfStopped watch(signals, [&] {
      progress.finish();
      session.console.error(stopped);
      std::_Exit(exit_code(stopped.code()));
    });
    return recogniser.end_task([&] {
      watch.work_is_done();  // what is left is short, and ends in order
      return signals.stopped() ? stopped : Status();
    });
  }();
  if (ended.ok() || ended.status().code() == Code::busy) return ended;
  if (!has_task_to_end(recogniser.store()->learner())) return ended;  // it says so
  const Status& why = ended.status();
  return Status(why.code(), sentence(why.what()) + " " + still_open(learned, kOnceMended));
}

}  // namespace engram
