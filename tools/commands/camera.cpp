#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "kernels/backend.h"
#include "tools/commands/apply_settings.h"
#include "tools/commands/commands.h"
#include "tools/commands/options.h"
#include "tools/console/progress.h"
#include "tools/console/terminal.h"
#include "tools/console/units.h"
#include "tools/live/line_face.h"
#include "tools/live/live.h"
#include "tools/live/service_pulse.h"
#include "tools/live/terminal_face.h"
#include "tools/web/web_face.h"

namespace engram {
namespace {

struct CameraCommand {
  std::string source = "stage://?fps=30&hold=300";
  bool mirror = false, headless = false, window = false;
  const CLI::Option* mirror_option = nullptr;  // not given: as it was chosen last
  std::string http;                            // empty: no page
  std::vector<std::string> hosts;
  std::vector<double> region;  // left, top, width, height in % of the sides
  double quiet_seconds = 3, frames_per_second = 30, false_alarm = 5, hottest = 85;
  LearnerOptions learner;
};

Result<std::optional<Region>> region_of(const std::vector<double>& percent) {
  if (percent.empty()) return std::optional<Region>();
  const auto thousandths = [](double value) { return int(10 * value + 0.5); };
  const Region region{thousandths(percent[0]), thousandths(percent[1]), thousandths(percent[2]),
                      thousandths(percent[3])};
  if (within(region) == region) return std::optional(region);
  return Status(Code::invalid_argument,
                "--region: left, top, width and height in % of the picture, such as 25,25,50,50, "
                "must lie within it and not be empty.");
}

// An address that nobody will ever understand is refused at once; a camera that is not there may come.
// What was opened to find out is the first one to be used.
Result<CameraFeed::Open> checked_source(const std::string& source) {
  Result<std::unique_ptr<Camera>> first = open_camera(source);
  const Code code = first.status().code();
  const bool is_missing_file = code == Code::not_found && source.find("://") == source.npos &&
                               !source.starts_with("/dev/");  // which may be plugged in
  if (code == Code::invalid_argument || code == Code::not_supported || is_missing_file) {
    return first.status();
  }
  // One holder for all copies: the camera is handed over once, and closed by who took it before
  // another is opened.
  const auto waiting = std::make_shared<std::unique_ptr<Camera>>();
  if (first.ok()) *waiting = std::move(first).value();
  return CameraFeed::Open([source, waiting]() -> Result<std::unique_ptr<Camera>> {
    if (*waiting == nullptr) return open_camera(source);
    return std::exchange(*waiting, nullptr);
  });
}

Result<LiveOptions> live_options(const Session& session, const CameraCommand& command) {
  LiveOptions live;
  live.recogniser.state = session.global.state;
  live.recogniser.home = session.global.home;
  live.recogniser.model = session.global.model;
  live.recogniser.threads = session.global.threads;
  live.recogniser.engines = EngineUse::build;
  ENGRAM_ASSIGN(live.recogniser.config, apply(command.learner, LearnerConfig{}));
  ENGRAM_ASSIGN(live.region, region_of(command.region));
  live.source = command.source;
  if (command.mirror_option->count() > 0) live.mirror = command.mirror;
  live.quiet = std::chrono::milliseconds(std::int64_t(1000 * command.quiet_seconds));
  live.most_frames_per_second = command.frames_per_second;
  live.false_alarms = command.false_alarm / 100;
  live.hottest = command.hottest;
  ENGRAM_ASSIGN(live.open_source, checked_source(command.source));
  return live;
}

// What is left when it ends. `trouble`: of the GPU, as it was told at the start.
void report_end(const Session& session, const LiveState& state, const std::string& trouble) {
  session.console.note(fmt::format(
      "{}, {} in all; saved in {}\n", plural(std::ssize(state.classes), "class", "classes"),
      plural(state.samples, "sample", "samples"), printable(session.global.state)));
  if (!state.fault.empty()) session.console.warn(state.fault);
  const std::string of_gpu = gpu_trouble_text(backend_in_use());
  if (of_gpu != trouble) session.console.warn(of_gpu);
}

// What is still computed is for nobody any more, and everything acknowledged is on the disk: the process
// ends as by kill -9, but with its words said.
[[noreturn]] void leave() {
  (void)std::fflush(nullptr);
  std::_Exit(0);
}

Result<int> run_camera(const Session& session, const CameraCommand& command) {
  const Console& console = session.console;
  ENGRAM_ASSIGN(ServiceNotify notify, ServiceNotify::from_environment());
  ENGRAM_ASSIGN(LiveOptions options, live_options(session, command));
  tell_gpu_trouble({});  // lines would go through the screen: the board tells it, to every face
  Result<LiveParts> parts = [&] {
    const Progress progress(console.shows_progress(), "open");
    return open_live_parts(options.recogniser);
  }();
  if (!parts.ok()) return parts.status();
  const StopSignals stop;  // opening may be cut off at any time: nothing is lost
  ENGRAM_TRY(check_agrees(command.learner, parts->config(), session.global.state));
  ENGRAM_ASSIGN(const std::unique_ptr<Live> started,
                Live::start(std::move(options), std::move(parts).value()));
  Live& live = *started;
  std::optional<ServiceWatch> watch;  // of systemd, where it started us
  watch.emplace(
      std::move(notify), [&live] { return service_pulse(live); },
      [&console](const Status& fault) { console.warn(fault.what()); });
  // Faces: those that work beside the others first, then the one that the user sits before.
  std::unique_ptr<WebFace> page;
  if (!command.http.empty()) {
    ENGRAM_ASSIGN(page, WebFace::start(live, command.http, session.global.home, command.hosts));
    if (!page->note().empty()) console.warn(page->note());
    console.answer(page->greeting(console.colour()));
    console.object({{"pages", page->urls()}});
  }
  const std::string trouble = gpu_trouble_text(backend_in_use());
  const bool has_terminal = is_terminal(stdin) && is_terminal(stdout);
  // The terminal's keys would hide the page's address: beside it they come with --window only.
  const bool page_alone = page != nullptr && has_terminal && !command.window;
  if (command.headless || page_alone) {
    run_headless(live, stop, console);
  } else if (has_terminal && !console.json()) {
    if (!trouble.empty()) console.warn(trouble);  // the screen has no room for the reason
    ENGRAM_TRY(run_terminal_face(live, stop, command.window));
  } else {
    run_line_face(live, stop, console);
  }
  watch.reset();  // says that we stop
  const bool has_ended = live.stop_or_leave();
  if (has_ended) page.reset();  // not before: an export waits for the thread that teaches
  report_end(session, live.state(), trouble);
  ENGRAM_TRY(live.opened());
  if (!has_ended) leave();
  return 0;
}

}  // namespace

void add_camera(CLI::App& app, Session& session) {
  const auto options = std::make_shared<CameraCommand>();
  const Manual manual{
      .name = "camera",
      .summary = "learn and recognise live before a camera",
      .synopsis =
          "engram camera [SOURCE] [--http ADDR] [--window] [--mirror] [--region L,T,W,H] "
          "[--headless]",
      .description =
          "Says what the camera sees, and learns it at the touch of a key: show something, press "
          "n, "
          "type its name. Each tap is on disk before it is acknowledged, and the next frame knows "
          "it. The task ends by itself after a quiet time, and lambda is chosen then.\n\n"
          "Keys: space learn the current class, 1-9 that class (hold for a burst; near-duplicates "
          "are skipped), n new class, b background, u undo, r the last one was something else, x "
          "the answer is wrong, e end the task, p pause, ? all keys, q quit. --window draws the "
          "picture in the terminal, also over ssh.\n\n"
          "--http 8477 serves a page to teach with in a browser, and a JSON API "
          "(/api/openapi.json), to this machine alone; --http 0.0.0.0:8477 to others as well, with "
          "a "
          "token that is printed as an address and as a QR code. It is kept in HOME/page-token; "
          "without that file the next start makes another.\n\n"
          "Without a terminal a line is printed whenever what is seen changes; with --json an "
          "object. SOURCE is an address such as stage:// (the virtual camera of the demo, the "
          "default). A camera that is not there yet, or goes, is waited for.",
      .example =
          "engram camera --http 8477\n"
          "engram camera --window\n"
          "engram camera 'stage://?hold=300' --state desk"};
  CLI::App* command = add_command(app, session, manual, nullptr);
  add_service_options(*command, session,
                      [&session, options] { return run_camera(session, *options); });
  command->add_option("SOURCE", options->source,
                      "The camera's address (default stage://?fps=30&hold=300)");
  options->mirror_option = command->add_flag(
      "--mirror", options->mirror,
      "Left is right, as before a mirror; --mirror=no: not (default: as chosen last)");
  command
      ->add_option(
          "--region", options->region,
          "Look at this part only: left, top, width, height in % of the picture (default: as "
          "chosen last)")
      ->type_name("L,T,W,H")
      ->delimiter(',')
      ->expected(4)
      ->check(between(0, 100));
  command
      ->add_option("--quiet-time", options->quiet_seconds,
                   "Seconds without a tap until the task ends (default 3)")
      ->type_name("S")
      ->check(between(0.01, 86400));
  command
      ->add_option("--fps", options->frames_per_second, "Frames looked at per second (default 30)")
      ->type_name("N")
      ->check(between(0.1, 1000));
  command
      ->add_option("--hottest", options->hottest,
                   "Degrees Celsius; above them half as many frames are looked at (default 85)")
      ->type_name("C")
      ->check(between(-50, 200));
  command
      ->add_option("--http", options->http,
                   "Serve the page and its API there: 8477, or 0.0.0.0:8477 with a token")
      ->type_name("ADDR");
  command
      ->add_option("--host", options->hosts,
                   "A name that browsers may use for this machine beside its own, such as one of a "
                   "proxy; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command->add_flag("--headless", options->headless, "No keys and no lines: until it is ended");
  command->add_flag("--window", options->window, "Draw the camera's picture in the terminal");
  command
      ->add_option("--false-alarm", options->false_alarm,
                   "Known things that may be called unknown, in % (default 5)")
      ->type_name("P")
      ->check(between(0, 100));
  add_learner_options(*command, options->learner);
}

}  // namespace engram
