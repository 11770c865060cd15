#include "tools/commands/options.h"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <system_error>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace engram {

void add_global_options(CLI::App& app, GlobalOptions& options) {
  app.add_option("--state", options.state,
                 "Directory of the learner (default $ENGRAM_STATE, else HOME/state/default)")
      ->type_name("DIR")
      ->check(not_empty());
  app.add_option("--home", options.home, "Where models and states are kept (default $ENGRAM_HOME)")
      ->type_name("DIR")
      ->check(not_empty());
  app.add_option("--model", options.model,
                 "Backbone, by name (default: the state's own, else efficientnet-lite0)")
      ->type_name("NAME")
      ->check(not_empty());
  app.add_option("--threads", options.threads, "Threads to use; 0 takes one per core")
      ->type_name("N")
      ->check(CLI::Range(0, 1024));
  app.add_option("--backend", options.backend,
                 "Where to compute: auto (a GPU where there is one, else the CPU), cpu or cuda")
      ->type_name("NAME");
  app.add_flag("--json", options.json, "One JSON object per answer on stdout, and nothing else");
  app.add_flag("--quiet", options.quiet, "Only answers and errors; no progress, no remarks");
}

void add_kind_options(CLI::App& command, LearnerOptions& options) {
  command
      .add_option(
          "--arithmetic", options.arithmetic,
          "exact: whole numbers, the same bits everywhere (default). float: as in the paper")
      ->type_name("KIND");
  command
      .add_option("--weights", options.weights,
                  "bipolar or gaussian projection (default bipolar; gaussian with float)")
      ->type_name("KIND");
  command
      .add_option(
          "--keep-features", options.keep_features,
          "yes: keep the encoded samples too, for exact undo, relabel and forget at any time and "
          "for judging classes (default). no: only sums")
      ->type_name("yes|no")
      ->check(CLI::IsMember({"yes", "no"}));
}

void add_learner_options(CLI::App& command, LearnerOptions& options, const char* seed_option) {
  command
      .add_option("--hidden", options.hidden,
                  "M, hidden units: 100 to 20000, or 0 for none (default 2000)")
      ->type_name("M");
  add_kind_options(command, options);
  command
      .add_option("--nonlinearity", options.nonlinearity,
                  "relu or square after the projection (default relu)")
      ->type_name("KIND");
  command
      .add_option("--lambda", options.lambda,
                  "Ridge: a rule (loo, gcv, paper, code) or a number (default loo)")
      ->type_name("RULE|X");
  command
      .add_option("--readout", options.readout,
                  "blend (default), ridge: as in the paper, mean: nearest class mean")
      ->type_name("KIND");
  command.add_option(seed_option, options.seed, "Seed of the projection (default 1)")
      ->type_name("N")
      ->check(seed_number());
}

CLI::Validator seed_number() {
  return {[](std::string& text) -> std::string {
            std::uint64_t value = 0;
            const char* const end = text.data() + text.size();
            const auto read = std::from_chars(text.data(), end, value);
            if (read.ec == std::errc() && read.ptr == end) return {};
            return fmt::format("{} is not a whole number from 0 to {}", text,
                               std::numeric_limits<std::uint64_t>::max());
          },
          ""};
}

CLI::Validator not_empty() {
  return {[](std::string& text) -> std::string {
            return text.empty() ? "it is empty; leave the option out for the default" : "";
          },
          ""};
}

CLI::Validator between(double least, double most) {
  return {[=](std::string& text) -> std::string {
            char* end = nullptr;
            const double value = std::strtod(text.c_str(), &end);
            const bool number = !text.empty() && *end == '\0';
            if (number && value >= least && value <= most) return {};
            return fmt::format("{} is not a number from {} to {}", text, least, most);
          },
          fmt::format("{} to {}", least, most)};
}

}  // namespace engram
