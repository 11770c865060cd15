// A command that runs for long, perhaps as a service: its options from a file, its words for a journal.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "platform/status.h"
#include "tools/session.h"

namespace CLI {
class App;
}

namespace engram {

// The keys that a file of settings may have: the long options of the command and those of every
// command, without --; a positional by its name.
std::vector<std::string> setting_keys(const CLI::App& command);

// Settings of the file (tools/settings_file.h) as if they had been typed, except where the command line
// says something. bad_data: an unknown key, a value that the option refuses; "FILE:LINE: ...".
Status apply_settings(CLI::App& command, const std::string& file);

// Gives the command --config and --log-format, and lets it run once both have been obeyed.
void add_service_options(CLI::App& command, Session& session, std::function<Result<int>()> run);

}  // namespace engram
