// What every command gets, and how a command joins the program.
//
// A command is one file commands/<name>.cpp with one function add_<name>(): it describes itself and its
// options, and leaves behind what to run. main.cpp runs the one that the user chose.
#pragma once

#include <functional>
#include <string>

#include "platform/status.h"
#include "tools/console/console.h"

namespace CLI {
class App;
}

namespace engram {

struct GlobalOptions {
  std::string state;             // directory of the learner
  std::string home;              // where models and the default state are
  std::string model;             // empty: the state's own, else efficientnet-lite0
  int threads = 0;               // 0: one per core
  std::string backend = "auto";  // or cpu, cuda
  bool json = false;
  bool quiet = false;
};

struct Session {
  GlobalOptions global;
  Console console;
  // Set by the chosen command. The int is the exit code: 0, or kExitSomeSkipped.
  std::function<Result<int>()> run;
};

// A page of the manual.
struct Manual {
  std::string name;         // "classify"
  std::string summary;      // one line, no full stop
  std::string synopsis;     // "engram classify [options] FILES..."
  std::string description;  // paragraphs
  std::string example;      // lines as typed, with what they print
};

// A command below `parent`, with --help that prints its page. `run` is called after parsing.
CLI::App* add_command(CLI::App& parent, Session& session, const Manual& manual,
                      std::function<Result<int>()> run);
// The program's own page: commands, exit codes, environment, files.
void set_program_help(CLI::App& app);
// "Did you mean classify?" for a word that is no command; empty when nothing is near.
std::string nearest_command(const CLI::App& app, const std::string& word);

// Fills in what the user left out: --home, which stays empty where nothing tells it, then --state (from
// $ENGRAM_STATE, else HOME/state/default).
void complete(GlobalOptions& options);
// not_found: there is no state in this directory, and how to make one.
Status no_state(const std::string& directory);

}  // namespace engram
