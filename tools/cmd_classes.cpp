#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "engine/store.h"
#include "engine/store_load.h"
#include "tools/commands.h"
#include "tools/table.h"
#include "tools/terminal.h"
#include "tools/units.h"

namespace engram {
namespace {

Result<int> run_classes(const Session& session) {
  const std::string& state = session.global.state;
  if (!Store::exists(state)) return no_state(state);
  ENGRAM_ASSIGN(const LoadedStore loaded, load_store(StorePaths(state), LoadCheck::none));

  Table table({{"class"}, {"samples", Align::right}});
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  const std::vector<ClassInfo> classes = loaded.learner.classes();
  for (const ClassInfo& one : classes) {
    table.add({printable(one.label), count_text(one.samples)});
    list.push_back({{"label", one.label}, {"samples", one.samples}});
  }
  const Console& console = session.console;
  if (classes.empty()) console.answer("nothing was learned yet\n");
  if (!classes.empty()) console.answer(table.text(console.colour()));
  console.object({{"state", state}, {"classes", list}, {"samples", loaded.learner.samples()}});
  return 0;
}

}  // namespace

void add_classes(CLI::App& app, Session& session) {
  const Manual manual{
      .name = "classes",
      .summary = "list what was learned",
      .synopsis = "engram classes [--state DIR]",
      .description =
          "Prints each class with the number of samples it was learned from, in the "
          "order in which the classes were first seen. Works while another process "
          "learns.",
      .example =
          "$ engram classes\n"
          "class   samples\n"
          "mug          12\n"
          "kettle        8"};
  add_command(app, session, manual, [&session] { return run_classes(session); });
}

}  // namespace engram
