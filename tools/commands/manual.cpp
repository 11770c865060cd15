// --help as a manual page.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "engine/nearest_name.h"
#include "tools/console/terminal.h"
#include "tools/console/text_wrap.h"
#include "tools/session.h"

namespace engram {
namespace {

constexpr int kIndent = 7;        // as man does
constexpr int kNameColumns = 20;  // of options
constexpr int kPageColumns = 92;

std::string section(const std::string& title, const std::string& body) {
  return paint(title, Style::bold, wants_colour(stdout)) + "\n" + body + "\n";
}

std::string option_lines(const CLI::App& app) {
  std::string text;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    std::string name =
        option->nonpositional() ? option->get_name(false, true) : option->get_name(true);
    std::replace(name.begin(), name.end(), ',', ' ');
    const bool takes_value = option->get_type_size() != 0 && option->nonpositional();
    if (takes_value) {  // without the range, which the description tells
      const std::string type = option->get_type_name();
      name += " " + type.substr(0, type.find(':'));
    }
    text += hanging(name, option->get_description(), kIndent, kIndent + kNameColumns, kPageColumns);
  }
  return text;
}

const CLI::App& root_of(const CLI::App& app) {
  const CLI::App* top = &app;
  while (top->get_parent() != nullptr) top = top->get_parent();
  return *top;
}

std::string command_lines(const CLI::App& app) {
  std::string text;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    text += hanging(command->get_name(), command->get_description(), kIndent, kIndent + 12,
                    kPageColumns);
  }
  return text;
}

std::string page(const CLI::App& app, const std::string& name, const Manual& manual) {
  std::string text =
      section("NAME", indented(name + " - " + manual.summary, kIndent, kPageColumns));
  text += section("SYNOPSIS", indented(manual.synopsis, kIndent, kPageColumns));
  text += section("DESCRIPTION", indented(manual.description, kIndent, kPageColumns));
  if (const std::string commands = command_lines(app); !commands.empty()) {
    text += section("COMMANDS", commands);
  }
  text += section("OPTIONS", option_lines(app));
  if (app.get_parent() != nullptr)
    text += section("OPTIONS OF EVERY COMMAND", option_lines(root_of(app)));
  text += section("EXAMPLE", indented(manual.example, kIndent, kPageColumns));
  return text;
}

constexpr const char* kExitCodes =
    "0   done\n"
    "3   done, but some inputs were skipped; each was named on stderr\n"
    "4   bench: something is slower than it was, or missed its mark\n"
    "64  the request makes no sense: see --help\n"
    "65  an input file is not what it should be; model half: fewer agree than --agreement\n"
    "66  an input, a state or a model does not exist\n"
    "69  this build or this machine cannot do it; service status: it does not run\n"
    "70  a fault of the program\n"
    "71  not enough memory, or the device failed\n"
    "74  the disk refused: full, read-only or broken; or stdout did not take the answer\n"
    "75  another process is writing: try again; learn, demo: stopped; adapt: stopped "
    "(--resume)";

constexpr const char* kEnvironment =
    "ENGRAM_HOME   where models and states are (else $XDG_DATA_HOME/engram, else\n"
    "              ~/.local/share/engram)\n"
    "ENGRAM_STATE  the state to use where --state does not say\n"
    "NO_COLOR      if set, no colours";

}  // namespace

CLI::App* add_command(CLI::App& parent, Session& session, const Manual& manual,
                      std::function<Result<int>()> run) {
  CLI::App* command = parent.add_subcommand(manual.name, manual.summary);
  const std::string name = parent.get_parent() == nullptr
                               ? "engram " + manual.name
                               : "engram " + parent.get_name() + " " + manual.name;
  command->formatter_fn([manual, name](const CLI::App* app, std::string, CLI::AppFormatMode) {
    return page(*app, name, manual);
  });
  command->fallthrough();
  if (run) command->callback([&session, run = std::move(run)] { session.run = run; });
  return command;
}

void set_program_help(CLI::App& app) {
  const Manual manual{
      .name = "engram",
      .summary = "teach a camera new things, on the device, in seconds, without forgetting",
      .synopsis = "engram COMMAND [options]",
      .description =
          "Engram learns to recognise things from a few pictures each, and takes in new ones at "
          "any "
          "time without losing the old: a frozen pre-trained network sees, a linear readout on "
          "random projections learns. Everything runs on this machine; nothing is sent anywhere. "
          "What was learned is kept in a state, a directory that survives a power cut.\n\n"
          "Every command prints text for people, or with --json one JSON object. "
          "`engram COMMAND --help` explains one command.",
      .example =
          "engram demo\n"
          "engram learn mug photos/mug/*.jpg\n"
          "engram classify desk.jpg"};
  app.formatter_fn([manual](const CLI::App* root, std::string, CLI::AppFormatMode) {
    return page(*root, "engram", manual) +
           section("EXIT CODES", indented(kExitCodes, kIndent, kPageColumns)) +
           section("ENVIRONMENT", indented(kEnvironment, kIndent, kPageColumns));
  });
}

std::string nearest_command(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return nearest_name(word, names);
}

}  // namespace engram
