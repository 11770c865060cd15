#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "engine/store.h"
#include "engine/store_load.h"
#include "tools/commands/commands.h"
#include "tools/console/progress.h"
#include "tools/console/table.h"
#include "tools/console/terminal.h"
#include "tools/console/units.h"
#include "tools/teaching_report.h"
#include "tools/unknown_report.h"

namespace engram {
namespace {

Result<int> run_classes(const Session& session) {
  const std::string& state = session.global.state;
  if (!Store::exists(state)) return no_state(state);
  ENGRAM_ASSIGN(const LoadedStore loaded, load_store(StorePaths(state), LoadCheck::none));

  const std::vector<ClassInfo> classes = loaded.learner.classes();
  Result<Teaching> teaching = [&] {
    const Progress progress(session.console.shows_progress(), "judge what was taught");
    return loaded.learner.teaching();
  }();
  Table table({{"class"}, {"samples", Align::right}, {"right", Align::right}});
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (std::size_t k = 0; k < classes.size(); ++k) {
    nlohmann::ordered_json one{{"label", classes[k].label}, {"samples", classes[k].samples}};
    std::string right = "-";
    if (teaching.ok() && teaching->report.classes[k].judged > 0) {
      const ClassTeaching& taught = teaching->report.classes[k];
      right = fmt::format("{:.0f} %", 100 * taught.accuracy());
      one["accuracy"] = taught.accuracy();
    }
    table.add({printable(classes[k].label), count_text(classes[k].samples), right});
    list.push_back(std::move(one));
  }
  const Console& console = session.console;
  if (classes.empty()) console.answer("nothing was learned yet\n");
  if (!classes.empty()) console.answer(table.text(console.colour()));
  nlohmann::ordered_json object{
      {"state", state}, {"classes", list}, {"samples", loaded.learner.samples()}};
  if (teaching.ok()) {
    for (const std::string& hint : teaching_hints(classes, *teaching)) console.answer(hint + "\n");
    if (teaching->selected < teaching->samples) {
      console.answer(fmt::format("judged by {} of {}, selected evenly from every class\n",
                                 count_text(teaching->selected),
                                 plural(teaching->samples, "sample", "samples")));
    }
    const TeachingReport& report = teaching->report;
    if (report.judged > 0) object["accuracy"] = double(report.right) / report.judged;
    object["judged_samples"] = teaching->selected;
    object["confusable"] = confusable_json(classes, *teaching);
    object["duplicates"] = duplicates_json(classes, *teaching);
  } else if (!classes.empty()) {
    console.note(fmt::format("{}\n", teaching.status().what()));
    object["not_judged"] = teaching.status().what();
  }
  const std::shared_ptr<const Readout> readout = loaded.learner.readout();
  if (!classes.empty()) {
    console.answer(fmt::format("unknown: {}\n", unknown_sentence(readout.get())));
  }
  object["unknown"] = unknown_json(readout.get());
  const std::string rounding = loaded.learner.rounding_note();
  if (!rounding.empty()) console.answer(rounding + "\n");
  object["rounded"] = !rounding.empty();
  if (const std::int64_t open = loaded.learner.task_samples(); open > 0) {
    console.log(
        fmt::format("{} of an open task do not answer yet: engram learn --end-task makes "
                    "them answer",
                    plural(open, "sample", "samples")));
  }
  console.object(object);
  return 0;
}

}  // namespace

void add_classes(CLI::App& app, Session& session) {
  const Manual manual{
      .name = "classes",
      .summary = "list what was learned, and say what to show more of",
      .synopsis = "engram classes [--state DIR]",
      .description =
          "Prints each class with the number of samples it was learned from, in the order in which "
          "the classes were first seen. Works while another process learns.\n\n"
          "Where samples are kept (not with --keep-features no), also: how many of a class's "
          "samples "
          "are named rightly by a readout that learned all others but this one (leave-one-out); "
          "which classes are taken for which, and how many more samples may help; classes too "
          "small "
          "to judge; and samples that are nearly the same picture, by their numbers. Of more "
          "than " +
          std::to_string(kTeachingSamples) +
          " samples as many are selected evenly from every class and judged by readouts of these "
          "alone; a line says so. The last line says what \"unknown\" "
          "answers are told by, or why none is given yet.",
      .example =
          "$ engram classes\n"
          "class   samples  right\n"
          "mug          12   83 %\n"
          "kettle        8  100 %\n"
          "mug looks like kettle (2 of 12): show mug 3 more\n"
          "unknown: told from 20 known examples and 20 unknown, by score; AUROC 0.93 among them"};
  add_command(app, session, manual, [&session] { return run_classes(session); });
}

}  // namespace engram
