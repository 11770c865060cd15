#include <memory>

#include <unistd.h>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "platform/child_process.h"
#include "tools/bundle/bundle_build.h"
#include "tools/bundle/bundle_install.h"
#include "tools/bundle/bundle_keys.h"
#include "tools/commands/commands.h"
#include "tools/console/progress.h"
#include "tools/console/terminal.h"
#include "tools/console/units.h"
#include "tools/service/engine_follow.h"
#include "tools/service/service_control.h"

namespace engram {
namespace {

struct BundleOptions {
  BundleRequest build;
  InstallRequest install;
  std::string target;
  bool no_service = false;
};

nlohmann::ordered_json head_json(const std::string& file, const BundleHead& head) {
  nlohmann::ordered_json members = nlohmann::ordered_json::array();
  for (const BundleEntry& entry : head.entries) {
    members.push_back(
        {{"name", name(entry.member)}, {"bytes", entry.size}, {"sha256", hex_of(entry.digest)}});
  }
  return {{"file", file},
          {"target", name(head.target)},
          {"bytes", head.file_size()},
          {"key", fingerprint(head.key)},
          {"members", members}};
}

std::string head_text(const BundleHead& head) {
  std::string text = fmt::format("target    {}\n", name(head.target));
  for (const BundleEntry& entry : head.entries) {
    text += fmt::format("{:<13} {:>10}  {}\n", name(entry.member),
                        bytes_text(static_cast<std::int64_t>(entry.size)), hex_of(entry.digest));
  }
  return text + fmt::format("key       {}\n", fingerprint(head.key));
}

Result<int> run_key(const Session& session, bool make) {
  const std::string& home = session.global.home;
  PublicKey key;
  if (make) {
    ENGRAM_ASSIGN(key, make_signing_key(home));
    session.console.note(
        fmt::format("{}: the secret. Keep it; who has it may change your devices.\n",
                    printable(signing_key_file(home))));
  } else {
    ENGRAM_ASSIGN(const Secret secret, read_signing_key(home));
    key = public_key_of(secret);
  }
  session.console.answer(fingerprint(key) + "\n");
  session.console.object({{"key", fingerprint(key)}, {"file", signing_key_file(home)}});
  return 0;
}

Result<int> run_build(const Session& session, BundleOptions& options) {
  options.build.target = *target_named(options.target);
  options.build.home = session.global.home;
  options.build.model = session.global.model;
  Progress progress(session.console.shows_progress(), "bundle");
  ENGRAM_ASSIGN(const BundleHead head, build_bundle(options.build));
  progress.finish();
  session.console.note(head_text(head) +
                       fmt::format("made      {}\n", printable(options.build.to)));
  session.console.object(head_json(options.build.to, head));
  return 0;
}

// Trusted are the keys that this machine trusts, and the one that it signs with itself.
Result<int> run_verify(const Session& session, const BundleOptions& options) {
  Progress progress(session.console.shows_progress(), "verify");
  ENGRAM_ASSIGN(const BundleFile bundle, BundleFile::open(options.install.bundle));
  const Result<Secret> own = read_signing_key(session.global.home);
  const bool ours =
      options.install.key.empty() && own.ok() && public_key_of(own.value()) == bundle.head().key;
  if (!ours) ENGRAM_TRY(judge_key(options.install, bundle.head().key).status());
  for (const BundleEntry& entry : bundle.head().entries) ENGRAM_TRY(bundle.check(entry));
  progress.finish();
  session.console.answer(head_text(bundle.head()) + "verified  every byte, and who signed it\n");
  session.console.object(head_json(bundle.path(), bundle.head()));
  return 0;
}

// By the program that was just installed.
Result<std::string> start_new_program(const BundleOptions& options) {
  if (!options.install.root.empty()) return std::string("not started: this is an image");
  if (options.no_service) return std::string("left as it is (--no-service)");
  if (!can_control_services().ok()) {
    return std::string("not started: systemd does not run here. Later: sudo engram service enable");
  }
  ENGRAM_ASSIGN(const ChildOutcome outcome,
                run_child({.arguments = {"/usr/bin/engram", "service", "enable"},
                           .seconds = 180,
                           .with_errors = true}));
  if (outcome.exit_code == 0 && outcome.signal == 0 && !outcome.timed_out) {
    return std::string("started, and starts with the machine");
  }
  return Status(
      Code::internal,
      fmt::format(
          "everything is installed, but the service did not start:{}\nAfter what it says is "
          "mended: sudo engram service enable; or back to the program from before: sudo "
          "engram bundle rollback",
          indented_lines(lines_of(outcome.output))));
}

Result<int> run_steps(const Session& session, const BundleOptions& options,
                      const std::function<Status(const TellStep&)>& work) {
  nlohmann::ordered_json steps = nlohmann::ordered_json::object();
  const TellStep tell = [&](const std::string& step, const std::string& what) {
    session.console.note(fmt::format("{:<9} {}\n", step, printable(what)));
    steps[step] = what;
  };
  ENGRAM_TRY(work(tell));
  ENGRAM_ASSIGN(const std::string service, start_new_program(options));
  tell("service", service);
  if (options.install.root.empty() && !options.no_service && can_control_services().ok()) {
    if (const std::string engine = follow_engine(session.console); !engine.empty()) {
      tell("engine", engine);
    }
  }
  session.console.object(steps);
  return 0;
}

void add_key(CLI::App& bundle, Session& session) {
  CLI::App* key = add_command(
      bundle, session,
      {.name = "key",
       .summary = "the key that signs bundles",
       .synopsis = "engram bundle key new|show",
       .description =
           "The secret is in HOME/keys/bundle.key. What is printed is the public key: it "
           "is no secret, and devices are told it by --key.",
       .example = "engram bundle key new"},
      nullptr);
  key->require_subcommand(1);
  add_command(*key, session,
              {.name = "new",
               .summary = "make one",
               .synopsis = "engram bundle key new",
               .description = "One that is there is kept.",
               .example = "engram bundle key new"},
              [&session] { return run_key(session, true); });
  add_command(*key, session,
              {.name = "show",
               .summary = "print the public key",
               .synopsis = "engram bundle key show",
               .description = "Its 64 digits, to compare with what a device shows.",
               .example = "engram bundle key show"},
              [&session] { return run_key(session, false); });
}

void add_build(CLI::App& bundle, Session& session, const std::shared_ptr<BundleOptions>& options) {
  CLI::App* build = add_command(
      bundle, session,
      {.name = "build",
       .summary = "make one",
       .synopsis = "engram bundle build --target TARGET --deb FILE [--model NAME] [--with-state "
                   "STATE] -o FILE",
       .description = "Puts the package, a model, what was learned and settings into one signed "
                      "file. The same "
                      "input gives the same bytes. Without --model it is the state's, else "
                      "efficientnet-lite0.",
       .example = "engram bundle build --target x86_64 --deb engram_0.1.0_amd64.deb -o site.egb"},
      [&session, options] { return run_build(session, *options); });
  build->add_option("--target", options->target, "x86_64, aarch64 or aarch64-jetson")
      ->required()
      ->type_name("TARGET")
      ->check(CLI::IsMember({"x86_64", "aarch64", "aarch64-jetson"}));
  build->add_option("--deb", options->build.package, "The Debian package of engram for the target")
      ->required()
      ->type_name("FILE");
  build
      ->add_option("--with-state", options->build.state,
                   "A state, or a file of engram export: what the device knows at first")
      ->type_name("STATE");
  build->add_option("--settings", options->build.settings, "A camera.conf (engram service config)")
      ->type_name("FILE");
  build->add_flag("--without-model", options->build.without_model,
                  "The device has the model already");
  build->add_option("-o,--output", options->build.to, "The bundle")->required()->type_name("FILE");
}

void add_trust(CLI::App* command, BundleOptions& options) {
  command->add_option("FILE", options.install.bundle, "The bundle")->required();
  command->add_option("--key", options.install.key, "The key that must have signed it")
      ->type_name("KEY");
}

CLI::App* add_root(CLI::App* command, BundleOptions& options) {
  command
      ->add_option("--root", options.install.root,
                   "An image of a system that is being made, instead of this machine")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory);
  command->add_flag("--no-service", options.no_service, "Do not start the service");
  return command;
}

}  // namespace

void add_bundle(CLI::App& app, Session& session) {
  CLI::App* bundle = add_command(
      app, session,
      {.name = "bundle",
       .summary = "everything for a device without a network, in one signed file",
       .synopsis = "engram bundle key|build|verify|install|rollback",
       .description =
           "At a desk, `build` makes a file of the program's package, a model, what was learned "
           "and "
           "settings; on the device, `install` verifies and installs it, without network. A new "
           "bundle is an update: what the device learned stays. `rollback` goes back to the "
           "program "
           "from before.\n\nWhere no engram is installed yet: sudo sh site.egb. That checks the "
           "same, "
           "but by the program in the bundle itself: whether it is the right bundle, you say "
           "by comparing the key (engram bundle key show).",
       .example = "engram bundle key new\n"
                  "engram bundle build --target x86_64 --deb engram_0.1.0_amd64.deb -o site.egb\n"
                  "sudo sh site.egb --key KEY       # on the device, the first time\n"
                  "sudo engram bundle install site.egb"},
      nullptr);
  bundle->require_subcommand(1);
  const auto options = std::make_shared<BundleOptions>();
  add_key(*bundle, session);
  add_build(*bundle, session, options);
  add_trust(add_command(
                *bundle, session,
                {.name = "verify",
                 .summary = "check every byte of one, and who signed it",
                 .synopsis = "engram bundle verify FILE [--key KEY]",
                 .description = "Prints what is in it. Trusted are the key that --key names, else "
                                "yours (engram bundle key show) and those in "
                                "/etc/engram/bundle-keys.",
                 .example = "engram bundle verify site.egb"},
                [&session, options] { return run_verify(session, *options); }),
            *options);
  CLI::App* install = add_root(
      add_command(
          *bundle, session,
          {.name = "install",
           .summary = "verify and install one, without network",
           .synopsis = "engram bundle install FILE [--key KEY | --trust-new-key]",
           .description =
               "Everything is verified before anything is changed. Then: settings if there are "
               "none, "
               "the package (by dpkg; the one before is kept), the model, what was learned if "
               "there "
               "is nothing yet, the service. Where it builds an engine for a GPU, a terminal shows "
               "how far that is. After a failure the same command goes on. Needs root.",
           .example = "sudo engram bundle install site.egb"},
          [&session, options] {
            return run_steps(session, *options, [&](const TellStep& tell) {
              return install_bundle(options->install, tell);
            });
          }),
      *options);
  add_trust(install, *options);
  install->add_flag("--trust-new-key", options->install.trust_new_key,
                    "Trust whoever signed it, now and from now on");
  add_root(
      add_command(
          *bundle, session,
          {.name = "rollback",
           .summary = "back to the program from before",
           .synopsis = "engram bundle rollback",
           .description = "Installs the package of the bundle before the last one again. What was "
                          "learned, models and settings stay. A second time: the newer one. "
                          "Needs root.",
           .example = "sudo engram bundle rollback"},
          [&session, options] {
            return run_steps(session, *options, [&](const TellStep& tell) {
              return roll_back(options->install.root, tell);
            });
          }),
      *options);
}

}  // namespace engram
