// engram: one program, one command each in commands/.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <fcntl.h>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "platform/blas_memory.h"
#include "platform/engine_build.h"
#include "platform/threads.h"
#include "platform/version.h"
#include "tools/backend_report.h"
#include "tools/commands/commands.h"
#include "tools/commands/options.h"
#include "tools/console/terminal.h"
#include "tools/convert/model_trial.h"
#include "tools/exit_code.h"

namespace {

using engram::Code;
using engram::Status;

void add_commands(CLI::App& app, engram::Session& session) {
  engram::add_demo(app, session);
  engram::add_camera(app, session);
  engram::add_learn(app, session);
  engram::add_classify(app, session);
  engram::add_classes(app, session);
  engram::add_history(app, session);
  engram::add_undo(app, session);
  engram::add_relabel(app, session);
  engram::add_rename(app, session);
  engram::add_forget(app, session);
  engram::add_export(app, session);
  engram::add_import(app, session);
  engram::add_merge(app, session);
  engram::add_inspect(app, session);
  engram::add_verify(app, session);
  engram::add_adapt(app, session);
  engram::add_evaluate(app, session);
  engram::add_plan(app, session);
  engram::add_model_command(app, session);
  engram::add_features(app, session);
  engram::add_doctor(app, session);
  engram::add_bench(app, session);
  engram::add_service(app, session);
  engram::add_bundle(app, session);
  engram::add_version(app, session);
}

// Where the words of the option parser become ours.
Status usage_error(const CLI::App& app, const CLI::ParseError& error) {
  std::string command = "engram";
  for (const CLI::App* used : app.get_subcommands()) command += " " + used->get_name();
  std::string hint;
  if (const auto extra = app.remaining(); app.get_subcommands().empty() && !extra.empty()) {
    const std::string nearest = engram::nearest_command(app, extra.front());
    hint = fmt::format("{}: no such command.", engram::printable(extra.front()));
    if (!nearest.empty()) hint += fmt::format(" Did you mean {}?", nearest);
  } else {
    hint = engram::printable(error.what()) + ".";
  }
  return Status(Code::invalid_argument, fmt::format("{} See {} --help.", hint, command));
}

// Neither a state nor a model is needed.
bool only_tells(const CLI::App& app) {
  const std::string command = app.get_subcommands().front()->get_name();
  return command == "version" || command == "plan" || command == "service";
}

// Without a home nothing may be kept, least of all in the folder where the user happens to be.
Status check_home(const CLI::App& app, const std::string& home) {
  if (!home.empty() || only_tells(app)) return {};
  return Status(
      Code::invalid_argument,
      "nobody says where models and states are kept: HOME is not set, nor is ENGRAM_HOME. "
      "Set one of them, or name a folder with --home DIR.");
}

int run(int argc, char** argv, engram::Session& session) {
  CLI::App app("engram");
  app.set_help_flag("-h,--help", "This page");
  app.set_version_flag("--version", fmt::format("engram {}", engram::version()), "The version");
  engram::set_program_help(app);
  engram::add_global_options(app, session.global);
  add_commands(app, session);
  app.require_subcommand(0, 1);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Parsing stopped half-way, so ask the words themselves.
    const bool json = std::any_of(
        argv, argv + argc, [](const char* word) { return std::string_view(word) == "--json"; });
    session.console.configure(json, false);
    if (json && dynamic_cast<const CLI::CallForVersion*>(&error) != nullptr) {
      session.console.object({{"version", engram::version()}});
      return session.console.finish(0);
    }
    if (error.get_exit_code() == 0) return session.console.finish(app.exit(error));  // --help
    session.console.error(usage_error(app, error));
    return engram::exit_code(Code::invalid_argument);
  }
  session.console.configure(session.global.json, session.global.quiet);
  if (!session.run) {
    const Status nothing(Code::invalid_argument, "no command was named. See engram --help.");
    if (session.console.json()) session.console.error(nothing);
    if (!session.console.json()) std::fputs(app.help().c_str(), stderr);
    return engram::exit_code(nothing.code());
  }
  engram::complete(session.global);
  if (const Status status = check_home(app, session.global.home); !status.ok()) {
    session.console.error(status);
    return engram::exit_code(status.code());
  }
  engram::set_thread_count(session.global.threads);
  if (const Status status = only_tells(app) ? Status() : engram::reserve_blas_memory();
      !status.ok()) {
    session.console.error(status);
    return engram::exit_code(status.code());
  }
  engram::use_engine_library(session.global.backend != "cpu");
  engram::warn_of_gpu_trouble(session.console);
  if (const Status status = engram::choose_backend(session.global.backend); !status.ok()) {
    session.console.error(status);
    return engram::exit_code(status.code());
  }

  const engram::Result<int> result = session.run();
  if (result.ok()) return session.console.finish(result.value());
  session.console.error(result.status());
  return engram::exit_code(result.status().code());
}

// The next file that is opened takes the place of a stream that was closed (engram ... >&-), and
// words would go into the state. Here something else takes it, which refuses to be written to.
void occupy_closed_streams() {
  for (int stream = 0; stream <= 2; ++stream) {
    if (::fcntl(stream, F_GETFD) == -1) (void)!::open("/dev/null", O_RDONLY);
  }
}

// As every other error, with --json too; in plain words where even that finds no memory.
int end_by_exception(const engram::Console& console, const Status& status) {
  try {
    console.error(status);
  } catch (const std::exception&) {
    std::fprintf(stderr, "error: %s\n", status.what());
  }
  return engram::exit_code(status.code());
}

int run_guarded(int argc, char** argv) {
  engram::Session session;
  try {
    return run(argc, argv, session);
  } catch (const std::bad_alloc&) {
    return end_by_exception(
        session.console,
        Status(Code::out_of_memory, "not enough memory. What was acknowledged before is kept."));
  } catch (const std::exception& error) {
    return end_by_exception(
        session.console,
        Status(Code::internal, fmt::format("a fault of the program: {}", error.what())));
  }
}

}  // namespace

int main(int argc, char** argv) {
  occupy_closed_streams();
  // A file beyond `ulimit -f` is a write that fails, with a sentence, and not the end of the process.
  std::signal(SIGXFSZ, SIG_IGN);
  // This process may be the child that tries a stranger's model, or builds an engine.
  if (const auto code = engram::serve_model_trial(argc, argv)) return *code;
  if (const auto code = engram::serve_engine_build(argc, argv)) return *code;
  const int code = run_guarded(argc, argv);
  if (!engram::blas_finds_memory()) {  // at the end of the process OpenBLAS would wait for it
    std::fflush(nullptr);
    std::_Exit(code);
  }
  return code;
}
