#include "tools/commands/bench_models.h"

#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "platform/version.h"
#include "tools/bench/model_bench.h"
#include "tools/commands/commands.h"
#include "tools/console/progress.h"
#include "tools/machine_state.h"

namespace engram {
namespace {

struct ModelsCommand {
  std::vector<std::string> models;
  int turns = 50;
};

Result<int> run_models(const Session& session, const ModelsCommand& command) {
  const ModelStore store(session.global.home);
  std::vector<StoredModel> models;
  for (const std::string& name : command.models) {
    ENGRAM_ASSIGN(StoredModel model, store.find(name));
    models.push_back(std::move(model));
  }
  const Console& console = session.console;
  const MachineState start = machine_state("");
  std::vector<ModelTime> times;
  {
    Progress progress(console.shows_progress(), "bench", command.turns);
    ENGRAM_ASSIGN(times, bench_models(models, command.turns, session.global.threads,
                                      [&] { progress.advance(); }));
  }
  console.answer(fmt::format("engram {}\n{}\n\n", version(), state_text(start)));
  console.answer(model_times_text(times, console.colour()));
  console.object({{"version", version()},
                  {"state", state_json(start)},
                  {"turns", command.turns},
                  {"rows", model_times_json(times)}});
  return 0;
}

}  // namespace

void add_bench_models(CLI::App& bench, Session& session) {
  const auto options = std::make_shared<ModelsCommand>();
  CLI::App* command = add_command(
      bench, session,
      {.name = "models",
       .summary = "time backbones beside each other, in turns",
       .synopsis = "engram bench models NAME... [--turns N]",
       .description =
           "From one picture to its features by each model in turn, so that whatever else the "
           "machine does slows all of them alike: the median, the least, and the median of what a "
           "turn takes as a multiple of the first model's. So a model that `engram adapt` made "
           "is compared with the one it was made from.",
       .example = "engram bench models dinov2-vits14 dinov2-vits14-ssf"},
      [&session, options] { return run_models(session, *options); });
  command->add_option("NAME", options->models, "Models of the store")->required();
  command->add_option("--turns", options->turns, "Pictures for each (default 50)")
      ->type_name("N")
      ->check(CLI::Range(1, 100000));
}

}  // namespace engram
