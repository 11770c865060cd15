#include "tools/learn_report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tools/console/progress.h"
#include "tools/console/terminal.h"
#include "tools/console/units.h"

namespace engram {

void report_learned(const Session& session, const Learner& learner, const LearnOutcome& outcome) {
  const Console& console = session.console;
  log_skipped(console, std::ssize(outcome.skipped), "learned and kept");
  const std::string what = outcome.learned.size() == 1
                               ? printable(outcome.learned.begin()->first)
                               : plural(std::ssize(outcome.learned), "class", "classes");
  if (outcome.samples > 0) {
    console.note(fmt::format(
        "{}  {}, {:.0f} img/s, {} in {}\n", paint(what, Style::bold, console.colour()),
        plural(outcome.samples, "sample", "samples"), double(outcome.samples) / outcome.seconds,
        paint("saved (durable)", Style::green, console.colour()), duration_text(outcome.seconds)));
  }
  const std::string all =
      fmt::format("{}, {} in all", plural(std::ssize(learner.classes()), "class", "classes"),
                  plural(learner.samples(), "sample", "samples"));
  nlohmann::ordered_json answer{{"state", session.global.state},
                                {"backbone", learner.config().backbone},
                                {"learned", outcome.learned},
                                {"skipped", skipped_json(outcome.skipped)},
                                {"seconds", outcome.seconds},
                                {"durable", true},
                                {"classes", learner.classes().size()},
                                {"samples", learner.samples()},
                                {"rounded", !learner.rounding_note().empty()},
                                {"task_ended", outcome.readout.has_value()}};
  if (outcome.readout) {
    const ReadoutReport& readout = *outcome.readout;
    console.note(fmt::format("{}; lambda {:g} ({}), ready to classify after {}\n", all,
                             readout.lambda, readout.rule, duration_text(readout.seconds)));
    if (!readout.note.empty()) console.note(readout.note + "\n");
    answer["lambda"] = readout.lambda;
    answer["rule"] = readout.rule;
    answer["note"] = readout.note;
    answer["solve_seconds"] = readout.seconds;
  } else {
    if (const std::string note = learner.rounding_note(); !note.empty()) console.note(note + "\n");
    console.note(all + (learner.task_samples() > 0
                            ? "; the task stays open: engram learn --end-task makes it answer\n"
                            : "; no task is open, so there is none to end\n"));
  }
  console.object(answer);
}

}  // namespace engram
