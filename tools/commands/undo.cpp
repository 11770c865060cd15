#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "tools/commands/commands.h"
#include "tools/edit_report.h"

namespace engram {
namespace {

Result<int> run_undo(const Session& session, int steps) {
  ENGRAM_ASSIGN(Store store, open_to_edit(session));
  ENGRAM_ASSIGN(const EditReport report, store.undo(steps));
  std::string done;
  nlohmann::ordered_json undone = nlohmann::ordered_json::array();
  for (const Step& step : report.steps) {
    done += undone_text(step) + "\n";
    undone.push_back(step_json(step));
  }
  report_edit(session, store, report, done, {{"undone", undone}});
  return 0;
}

}  // namespace

void add_undo(CLI::App& app, Session& session) {
  const auto steps = std::make_shared<int>(1);
  const Manual manual{
      .name = "undo",
      .summary = "take back what was learned last",
      .synopsis = "engram undo [N]",
      .description =
          "Takes back the last N steps; a step is what one `engram learn` taught, or one tap. "
          "Afterwards the state is, to the bit, as if those pictures had never been shown: a class "
          "that was only in them disappears, and the answers are solved for anew. `engram history` "
          "lists the steps. Samples that were relabelled meanwhile go with their step.\n\n"
          "A state that keeps features can go back to the beginning. One that holds sums only "
          "(--keep-features no) can go back to its last snapshot, and says so. Nothing is changed "
          "when a step cannot be taken back exactly.",
      .example =
          "$ engram undo\n"
          "undone: learn mug (12 samples)\n"
          "2 classes, 24 samples are left; lambda 100 (loo), ready to classify after 0.04 s"};
  CLI::App* command =
      add_command(app, session, manual, [&session, steps] { return run_undo(session, *steps); });
  command->add_option("N", *steps, "How many steps (default 1)")
      ->check(CLI::Range(1, 1'000'000'000));
}

}  // namespace engram
