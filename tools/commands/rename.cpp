#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "tools/commands/commands.h"
#include "tools/edit_report.h"

namespace engram {
namespace {

struct RenameOptions {
  std::string from, to;
};

Result<int> run_rename(const Session& session, const RenameOptions& options) {
  ENGRAM_ASSIGN(Store store, open_to_edit(session));
  ENGRAM_ASSIGN(const EditReport report, store.rename(options.from, options.to));
  const std::string done = renamed_text(report, options.from, options.to) + "\n";
  report_edit(session, store, report, done, {{"from", options.from}, {"to", options.to}});
  return 0;
}

}  // namespace

void add_rename(CLI::App& app, Session& session) {
  const auto options = std::make_shared<RenameOptions>();
  const Manual manual{
      .name = "rename",
      .summary = "give a class another name, or make two classes one",
      .synopsis = "engram rename OLD NEW",
      .description =
          "All samples of OLD are called NEW from now on. If NEW is a class already, the two "
          "become "
          "one. Afterwards the state is, to the bit, that of a learner which heard the new name "
          "from the beginning. Works in every state, whether it keeps features or not.",
      .example =
          "$ engram rename cup mug\n"
          "renamed: cup is called mug now (8 samples)\n"
          "2 classes, 36 samples are left; lambda 100 (loo), ready to classify after 0.04 s"};
  CLI::App* command = add_command(app, session, manual,
                                  [&session, options] { return run_rename(session, *options); });
  command->add_option("OLD", options->from, "The class")->required();
  command->add_option("NEW", options->to, "Its name from now on")->required();
}

}  // namespace engram
