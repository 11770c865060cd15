#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "engine/state_file.h"
#include "engine/store_load.h"
#include "tools/audit_report.h"
#include "tools/commands/commands.h"
#include "tools/console/table.h"
#include "tools/console/terminal.h"
#include "tools/console/units.h"
#include "tools/edit_report.h"

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

struct HistoryOptions {
  int count = 20;
  bool audit = false;
  std::string file;
};

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

// Who did what: of a state, or of an exported file.
Result<int> run_audit(const Session& session, const std::string& file) {
  const std::string& state = session.global.state;
  std::vector<AuditEntry> trail;
  if (!file.empty()) {
    ENGRAM_ASSIGN(trail, audit_of_file(file));
  } else {
    if (!Store::exists(state)) return no_state(state);
    ENGRAM_ASSIGN(LoadedStore loaded, load_store(StorePaths(state), LoadCheck::none));
    trail = std::move(loaded.history.audit);
  }
  const Console& console = session.console;
  if (trail.empty()) console.answer("an earlier version made this state, and it kept no trail\n");
  if (!trail.empty()) console.answer(audit_table(trail, console.colour()));
  nlohmann::ordered_json answer{{"state", state}, {"audit", audit_json(trail)}};
  if (!file.empty()) answer = {{"file", file}, {"audit", audit_json(trail)}};
  console.object(answer);
  return 0;
}

}  // namespace

void add_history(CLI::App& app, Session& session) {
  const auto options = std::make_shared<HistoryOptions>();
  const Manual manual{
      .name = "history",
      .summary = "list what was learned, step by step",
      .synopsis = "engram history [--count N | --audit [FILE]]",
      .description =
          "Prints the last steps, newest first: the number to give to `engram undo` to take back "
          "this one and all after it, the ids of its samples for `engram relabel`, and what was "
          "learned. A step is what one `engram learn` taught, or one tap. Works while another "
          "process learns.\n\n"
          "With --audit it prints where the state has been instead, oldest first: which device "
          "made, exported, imported or merged it, after how many events, with how many samples, "
          "and "
          "the digest of the statistics then. States that were merged into this one have their "
          "lines before that merge.",
      .example =
          "$ engram history\n"
          "undo  ids    samples  learned\n"
          "   1  21-32       12  mug 12\n"
          "   2  1-20        20  kettle 8, plant 12\n"
          "$ engram history --audit kitchen.engram\n"
          "state             event  device   what      samples  classes  digest\n"
          "92e4c6a1b85f3d07      0  pi-3     created         0        0  3-e1b90c4a77d2\n"
          "92e4c6a1b85f3d07     14  kitchen  exported       61        5  3-5c7d41e0a3b8"};
  CLI::App* command = add_command(app, session, manual, [&session, options] {
    return options->audit ? run_audit(session, options->file)
                          : run_history(session, options->count);
  });
  auto* count =
      command->add_option("--count", options->count, "How many steps to list (default 20)")
          ->type_name("N")
          ->check(CLI::Range(1, 1'000'000'000));
  auto* audit = command->add_flag("--audit", options->audit, "Which devices the state has come by")
                    ->excludes(count);
  command->add_option("FILE", options->file, "With --audit: of a file of `engram export`")
      ->needs(audit);
}

}  // namespace engram
