#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "engine/store_load.h"
#include "tools/commands/commands.h"
#include "tools/edit_report.h"
#include "tools/table.h"
#include "tools/terminal.h"
#include "tools/units.h"

namespace engram {
namespace {

std::string ids_text(const Step& step) {
  return step.first_id == step.last_id ? fmt::to_string(step.first_id)
                                       : fmt::format("{}-{}", step.first_id, step.last_id);
}

std::string what_text(const Step& step) {
  std::string text;
  for (std::size_t i = 0; i < step.classes.size() && i < 4; ++i) {
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", printable(step.classes[i].label),
                        step.classes[i].samples);
  }
  if (step.classes.size() > 4) text += fmt::format(" and {} more", step.classes.size() - 4);
  return text;
}

Result<int> run_history(const Session& session, int count) {
  const std::string& state = session.global.state;
  if (!Store::exists(state)) return no_state(state);
  ENGRAM_ASSIGN(const LoadedStore loaded, load_store(StorePaths(state), LoadCheck::none));
  ENGRAM_ASSIGN(const std::vector<Step> steps, steps_of(loaded));
  std::int64_t older = loaded.learner.samples();
  for (const Step& step : steps) older -= step.samples;

  Table table({{"undo", Align::right}, {"ids"}, {"samples", Align::right}, {"learned"}});
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  const int shown = std::min(count, int(steps.size()));
  for (int back = 1; back <= shown; ++back) {
    const Step& step = steps[steps.size() - std::size_t(back)];
    table.add({fmt::to_string(back), ids_text(step), count_text(step.samples), what_text(step)});
    list.push_back(step_json(step));
  }
  const Console& console = session.console;
  if (shown > 0) console.answer(table.text(console.colour()));
  if (loaded.learner.samples() == 0) console.answer("nothing was learned yet\n");
  if (shown < int(steps.size())) {
    console.note(fmt::format("{} before them: --count shows more\n",
                             plural(std::ssize(steps) - shown, "step", "steps")));
  }
  if (older > 0) {
    console.note(fmt::format("{} more are in the sums only and cannot be taken back one by one\n",
                             plural(older, "sample", "samples")));
  }
  console.object({{"state", state},
                  {"steps", list},
                  {"steps_in_all", steps.size()},
                  {"samples", loaded.learner.samples()},
                  {"in_sums_only", older}});
  return 0;
}

}  // namespace

void add_history(CLI::App& app, Session& session) {
  const auto count = std::make_shared<int>(20);
  const Manual manual{
      .name = "history",
      .summary = "list what was learned, step by step",
      .synopsis = "engram history [--count N]",
      .description =
          "Prints the last steps, newest first: the number to give to `engram undo` to take back "
          "this one and all after it, the ids of its samples for `engram relabel`, and what was "
          "learned. A step is what one `engram learn` taught, or one tap. Works while another "
          "process learns.",
      .example =
          "$ engram history\n"
          "undo  ids    samples  learned\n"
          "   1  21-32       12  mug 12\n"
          "   2  1-20        20  kettle 8, plant 12"};
  CLI::App* command =
      add_command(app, session, manual, [&session, count] { return run_history(session, *count); });
  command->add_option("--count", *count, "How many steps to list (default 20)")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000'000));
}

}  // namespace engram
