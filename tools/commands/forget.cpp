#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "tools/commands/commands.h"
#include "tools/edit_report.h"

namespace engram {
namespace {

Result<int> run_forget(const Session& session, const std::string& label) {
  ENGRAM_ASSIGN(Store store, open_to_edit(session));
  ENGRAM_ASSIGN(const EditReport report, store.forget(label));
  const std::string done = forgotten_text(report, label) + "\n";
  report_edit(session, store, report, done, {{"forgotten", label}});
  return 0;
}

}  // namespace

void add_forget(CLI::App& app, Session& session) {
  const auto label = std::make_shared<std::string>();
  const Manual manual{
      .name = "forget",
      .summary = "forget a class, wholly",
      .synopsis = "engram forget LABEL",
      .description =
          "Removes a class and all its samples. Afterwards the state is, to the bit, that of a "
          "learner which never saw one of them, and its files hold no byte of them. This cannot be "
          "undone: learn the pictures again to have the class back.\n\n"
          "A state that holds sums only (--keep-features no) can forget a class that was learned "
          "since its last snapshot, and forgetting makes one; otherwise the command says why it "
          "cannot, and changes nothing.",
      .example =
          "$ engram forget mug\n"
          "forgotten: mug (12 samples)\n"
          "2 classes, 24 samples are left; lambda 100 (loo), ready to classify after 0.04 s"};
  CLI::App* command =
      add_command(app, session, manual, [&session, label] { return run_forget(session, *label); });
  command->add_option("LABEL", *label, "The class to forget")->required();
}

}  // namespace engram
