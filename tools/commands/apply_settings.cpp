#include "tools/commands/apply_settings.h"

#include <algorithm>
#include <memory>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "engine/nearest_name.h"
#include "tools/console/terminal.h"
#include "tools/settings_file.h"

namespace engram {

namespace {

std::string key_of(const CLI::Option& option) {
  const std::vector<std::string>& names = option.get_lnames();
  if (!names.empty()) return names.front();
  return CLI::detail::to_lower(option.get_name(true));
}

// Every option that a file may set, those of the program last.
std::vector<CLI::Option*> settable_options(CLI::App& command) {
  std::vector<CLI::Option*> options;
  for (CLI::App* app = &command; app != nullptr; app = app->get_parent()) {
    for (CLI::Option* option : app->get_options()) {
      const std::string key = key_of(*option);
      if (key != "help" && key != "version" && key != "config") options.push_back(option);
    }
  }
  return options;
}

void set(CLI::Option& option, const std::string& value) {
  if (option.get_items_expected_max() == 0) {  // a flag
    const std::string truth = truth_of(value);
    if (truth.empty()) throw CLI::ValidationError(fmt::format("{} is neither yes nor no", value));
    option.add_result(truth);
  } else if (option.get_items_expected_max() > 1) {
    std::istringstream words(value);
    for (std::string word; words >> word;) option.add_result(word);
  } else {
    option.add_result(value);
  }
  option.run_callback();
}

// What the option parser says, in words that fit a file.
std::string reason(const CLI::ParseError& error, const std::string& key) {
  std::string text = error.what();
  if (const std::string name = "--" + key + ": "; text.starts_with(name)) {
    text.erase(0, name.size());
  }
  return printable(text);
}

}  // namespace

std::vector<std::string> setting_keys(const CLI::App& command) {
  std::vector<std::string> keys;
  for (const CLI::Option* option : settable_options(const_cast<CLI::App&>(command))) {
    keys.push_back(key_of(*option));
  }
  return keys;
}

Status apply_settings(CLI::App& command, const std::string& file) {
  ENGRAM_ASSIGN(const std::vector<Setting> settings, read_settings(file));
  const std::vector<CLI::Option*> options = settable_options(command);
  for (const Setting& setting : settings) {
    const auto found = std::find_if(options.begin(), options.end(), [&](const CLI::Option* o) {
      return key_of(*o) == setting.key;
    });
    if (found == options.end()) {
      const std::string near = nearest_name(setting.key, setting_keys(command));
      return setting_error(file, setting.line,
                           fmt::format("there is no setting {}. {}", setting.key,
                                       near.empty() ? "engram service config lists them all."
                                                    : fmt::format("Did you mean {}?", near)));
    }
    if ((*found)->count() > 0) continue;  // the command line says otherwise
    try {
      set(**found, setting.value);
    } catch (const CLI::ParseError& error) {
      return setting_error(file, setting.line,
                           fmt::format("{}: {}.", setting.key, reason(error, setting.key)));
    }
  }
  return Status();
}

void add_service_options(CLI::App& command, Session& session, std::function<Result<int>()> run) {
  struct Chosen {
    std::string config, log_format = "auto";
  };
  const auto chosen = std::make_shared<Chosen>();
  command
      .add_option("--config", chosen->config,
                  "Settings from a file, one `key = value` a line; `engram service config` prints "
                  "one with all of them. The command line beats the file")
      ->type_name("FILE");
  command
      .add_option("--log-format", chosen->log_format,
                  "text, journal (a priority before each line, for systemd) or auto (journal "
                  "where one listens, the default)")
      ->type_name("KIND")
      ->check(CLI::IsMember({"auto", "text", "journal"}));
  command.callback([&command, &session, chosen, run = std::move(run)] {
    Status status;
    if (!chosen->config.empty()) status = apply_settings(command, chosen->config);
    session.run = [&session, chosen, status, run]() -> Result<int> {
      if (chosen->log_format != "auto") {
        session.console.write_for_journal(chosen->log_format == "journal");
      }
      ENGRAM_TRY(status);
      return run();
    };
  });
}

}  // namespace engram
