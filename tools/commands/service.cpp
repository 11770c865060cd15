#include <climits>
#include <cstdlib>
#include <memory>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "engine/model_store.h"
#include "tools/commands/apply_settings.h"
#include "tools/commands/commands.h"
#include "tools/console/terminal.h"
#include "tools/exit_code.h"
#include "tools/open_model.h"
#include "tools/service/engine_follow.h"
#include "tools/service/service_control.h"
#include "tools/service/service_files.h"
#include "tools/service/service_report.h"
#include "tools/service/service_texts.h"
#include "tools/web/page_token.h"

namespace engram {
namespace {

struct ServiceOptions {
  std::string root;  // of an image
  int lines = 5;
  bool renew = false;
};

Result<ServicePlaces> places_of(const ServiceOptions& options) {
  char program[PATH_MAX];
  const ssize_t length = ::readlink("/proc/self/exe", program, sizeof program);
  if (length <= 0) {
    return Status(Code::not_supported, "/proc is not mounted, so the program cannot find itself");
  }
  return ServicePlaces{.root = options.root,
                       .program = std::string(program, static_cast<std::size_t>(length))};
}

// Before anything is written: would it start?
Status check_settings(CLI::App& app, const ServicePlaces& places) {
  if (::access(places.config().c_str(), F_OK) == 0) {
    ENGRAM_TRY(apply_settings(*app.get_subcommand("camera"), places.config()));
  }
  ENGRAM_ASSIGN(const ServiceSettings settings, read_service_settings(places));
  const ModelStore models(settings.home);
  if (settings.model.empty()) {
    ENGRAM_ASSIGN(const std::vector<StoredModel> list, models.list());
    if (!list.empty()) return Status();
  } else {
    const Status found = models.find(settings.model).status();
    if (found.code() != Code::not_found) return found;
  }
  return Status(Code::not_found,
                fmt::format("{0}: the backbone {1} is not there yet, so the service could not see. "
                            "Nothing was changed. First: engram model add {1} --home {0}",
                            printable(settings.home),
                            settings.model.empty() ? kDefaultModel : printable(settings.model)));
}

// The unit hides these folders from the service, and quotes nothing.
void warn_of_program(const Console& console, const ServicePlaces& places) {
  if (!places.packaged_unit().empty()) return;
  const std::string& file = places.program;
  bool hidden = file.find_first_of(" \t%\"'\\$;") != file.npos;
  for (const char* folder : {"/home/", "/root/", "/run/user/", "/tmp/", "/var/tmp/"}) {
    hidden = hidden || file.starts_with(folder);
  }
  if (!hidden) return;
  console.warn(
      fmt::format("{}: a service cannot run a program that lies there. Install it, and enable "
                  "the service with that one: sudo cmake --install build",
                  printable(file)));
}

Result<int> run_enable(const Session& session, CLI::App& app, const ServiceOptions& options) {
  const bool image = !options.root.empty();
  if (!image) ENGRAM_TRY(can_control_services());
  ENGRAM_ASSIGN(const ServicePlaces places, places_of(options));
  ENGRAM_TRY(check_settings(app, places));
  if (!image) warn_of_program(session.console, places);
  ::umask(022);  // the service reads what is put into /etc
  ENGRAM_ASSIGN(const ServiceFiles files, install_service_files(places));
  session.console.note(service_files_text(places, files));
  nlohmann::ordered_json answer = service_files_json(places, files);
  ENGRAM_ASSIGN(const ServiceSettings settings, read_service_settings(places));
  if (const std::string page = page_of(settings); !page.empty()) {
    session.console.note(fmt::format("page      {}\n", page));
    answer["page"] = page;
  }
  if (const std::string note = settings_note(places, settings); !note.empty()) {
    session.console.warn(note);
  }
  if (image) {
    make_device_groups(options.root);
    ENGRAM_TRY(systemctl({"--root=" + options.root, "enable", kServiceUnit}));
    session.console.note(fmt::format("{} will start with the image.\n", kServiceUnit));
    session.console.object(answer);
    return 0;
  }
  ENGRAM_TRY(start_service(files.unit == FileFate::written));  // a changed unit needs a new start
  ENGRAM_ASSIGN(const ServiceState state, service_state());
  session.console.note(fmt::format("ready     {}\n", printable(state.status)));
  answer["status"] = state.status;
  if (const std::string engine = follow_engine(session.console); !engine.empty()) {
    session.console.note(fmt::format("engine    {}\n", printable(engine)));
    answer["engine"] = engine;
  }
  session.console.object(answer);
  return 0;
}

Result<int> run_disable(const Session& session, const ServiceOptions& options) {
  const bool image = !options.root.empty();
  if (!image) ENGRAM_TRY(can_control_services());
  ENGRAM_ASSIGN(const ServicePlaces places, places_of(options));
  if (image) {
    ENGRAM_TRY(systemctl({"--root=" + options.root, "disable", kServiceUnit}));
  } else {
    ENGRAM_TRY(systemctl({"disable", "--now", kServiceUnit}));
  }
  ENGRAM_ASSIGN(const bool removed, remove_service_unit(places));
  if (removed && !image) ENGRAM_TRY(systemctl({"daemon-reload"}));
  session.console.note(
      fmt::format("{} is stopped and will not start by itself. Kept: settings {}, state {}\n",
                  kServiceUnit, printable(places.config()), printable(places.state())));
  session.console.object({{"unit", kServiceUnit}, {"enabled", false}, {"removed_unit", removed}});
  return 0;
}

Result<int> run_token(const Session& session, const ServiceOptions& options) {
  if (options.root.empty() && ::geteuid() != 0) {
    return Status(Code::not_supported, "the service's token may be seen by root only: use sudo");
  }
  ENGRAM_ASSIGN(const ServicePlaces places, places_of(options));
  ENGRAM_ASSIGN(const ServiceSettings settings, read_service_settings(places));
  if (options.renew) {
    ENGRAM_TRY(forget_page_token(settings.home).status());
    if (options.root.empty() && can_control_services().ok()) {
      ENGRAM_ASSIGN(const ServiceState state, service_state());
      if (state.runs()) ENGRAM_TRY(start_service(true));
    }
  }
  const Result<std::string> token = read_page_token(settings.home);
  if (token.status().code() == Code::not_found) {
    session.console.answer(
        "There is no token: the next start of a page that others may open makes "
        "one.\n");
    session.console.object({{"token", nullptr}});
    return 0;
  }
  ENGRAM_TRY(token.status());
  session.console.answer(token.value() + "\n");
  session.console.object({{"token", token.value()}});
  return 0;
}

Result<int> run_status(const Session& session, const ServiceOptions& options) {
  ENGRAM_TRY(can_ask_about_services());
  ENGRAM_ASSIGN(const ServicePlaces places, places_of(options));
  ENGRAM_ASSIGN(const ServiceState state, service_state());
  ENGRAM_ASSIGN(const ServiceSettings settings, read_service_settings(places));
  const ServiceHealth health = ask_health(state, settings);
  const std::vector<std::string> lines = last_journal_lines(options.lines);
  session.console.answer(service_status_text(places, state, health, lines));
  session.console.object(service_status_json(places, state, health, lines));
  return state.runs() ? 0 : exit_code(Code::not_supported);
}

}  // namespace

void add_service(CLI::App& app, Session& session) {
  CLI::App* service = add_command(
      app, session,
      {.name = "service",
       .summary = "the camera app as a service of systemd",
       .synopsis = "engram service enable|disable|status|token|config",
       .description =
           "Runs `engram camera` from the start of the machine on, without a terminal: as a user "
           "of its own that may write to /var/lib/engram and nowhere else, watched, and started "
           "again when it fails. Its settings are in /etc/engram/camera.conf.",
       .example = "sudo engram model add efficientnet-lite0 --home /var/lib/engram\n"
                  "sudo engram service enable\n"
                  "engram service status"},
      nullptr);
  service->require_subcommand(1);
  const auto options = std::make_shared<ServiceOptions>();
  const auto add_root = [&](CLI::App* command) {
    command
        ->add_option(
            "--root", options->root,
            "An image of a system that is being made: its files instead of this machine's; "
            "nothing is started or stopped")
        ->type_name("DIR")
        ->check(CLI::ExistingDirectory);
  };

  add_root(add_command(
      *service, session,
      {.name = "enable",
       .summary = "install, start, and start with the machine",
       .synopsis = "engram service enable [--root DIR]",
       .description =
           "Writes the unit (unless a package brought one) and, if there is none, a file of "
           "settings; then enables and starts the service, waits until it is ready, and prints "
           "where its page is. What "
           "somebody edited is left alone. If it does not get ready, the last lines of its "
           "journal are printed. Where it builds an engine for a GPU, a terminal shows how far "
           "that is. Needs root.",
       .example = "sudo engram service enable"},
      [&session, &app, options] { return run_enable(session, app, *options); }));

  add_root(add_command(*service, session,
                       {.name = "disable",
                        .summary = "stop, and do not start with the machine",
                        .synopsis = "engram service disable [--root DIR]",
                        .description = "Stops the service; what was learned and the settings stay. "
                                       "Needs root.",
                        .example = "sudo engram service disable"},
                       [&session, options] { return run_disable(session, *options); }));

  add_command(*service, session,
              {.name = "status",
               .summary = "does it run, how is it, what did it say last",
               .synopsis = "engram service status [--lines N]",
               .description = "Prints what systemd knows, what the service answers on its page's "
                              "/health, where its state is, and its last lines. Exit code 0 while "
                              "it runs, else 69.",
               .example = "engram service status --json"},
              [&session, options] { return run_status(session, *options); })
      ->add_option("--lines", options->lines, "Lines of the journal (default 5)")
      ->type_name("N")
      ->check(CLI::Range(0, 1000));

  CLI::App* token = add_command(
      *service, session,
      {.name = "token",
       .summary = "the token of the page, or another one",
       .synopsis = "engram service token [--renew] [--root DIR]",
       .description =
           "Prints the token that a page needs which others than this machine may open (`http = "
           "0.0.0.0:8477`). It is kept in /var/lib/engram/page-token from start to start, so that "
           "a "
           "phone stays welcome. --renew: it counts no more, and the service, if it runs, starts "
           "again with another. Needs root.",
       .example = "sudo engram service token --renew"},
      [&session, options] { return run_token(session, *options); });
  add_root(token);
  token->add_flag("--renew", options->renew, "Another one; who has the old one is sent away");

  add_command(*service, session,
              {.name = "config",
               .summary = "print a file of settings with all of them explained",
               .synopsis = "engram service config > camera.conf",
               .description = "Each setting is an option of `engram camera`, as a comment with its "
                              "default.",
               .example = "engram service config > camera.conf\n"
                          "engram camera --config camera.conf"},
              [&session]() -> Result<int> {
                session.console.answer(service_config_text());
                session.console.object({{"config", service_config_text()}});
                return 0;
              });
}

}  // namespace engram
