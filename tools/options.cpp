#include "tools/options.h"

#include <CLI/CLI.hpp>

namespace engram {

void add_global_options(CLI::App& app, GlobalOptions& options) {
  app.add_option("--state", options.state,
                 "Directory of the learner (default $ENGRAM_STATE, else HOME/state/default)")
      ->type_name("DIR");
  app.add_option("--home", options.home, "Where models and states are kept (default $ENGRAM_HOME)")
      ->type_name("DIR");
  app.add_option("--model", options.model,
                 "Backbone, by name (default: the state's own, else efficientnet-lite0)")
      ->type_name("NAME");
  app.add_option("--threads", options.threads, "Threads to use; 0 takes one per core")
      ->type_name("N")
      ->check(CLI::Range(0, 1024));
  app.add_flag("--json", options.json, "One JSON object per answer on stdout, and nothing else");
  app.add_flag("--quiet", options.quiet, "Only answers and errors; no progress, no remarks");
}

}  // namespace engram
