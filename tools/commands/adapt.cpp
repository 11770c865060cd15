#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "engine/memory_plan.h"
#include "platform/sentence.h"
#include "tools/adapt/adapt_model.h"
#include "tools/adapt/adapt_plan_report.h"
#include "tools/adapt/adapt_report.h"
#include "tools/adapt/adapt_screen.h"
#include "tools/commands/commands.h"
#include "tools/commands/options.h"
#include "tools/console/terminal.h"
#include "tools/console/units.h"
#include "tools/exit_code.h"
#include "tools/live/stop_signals.h"
#include "tools/open_model.h"
#include "tools/pictures/tree.h"

namespace engram {
namespace {

struct AdaptOptions {
  std::string tree, labels, method, as_name, memory, svg, device, head_start = "means";
  AdaptSettings settings;
  int patience = 5;
  bool resume = false, restart = false, replace = false, always = false, plan = false;
};

// Names, settings and what they mean, before anything is read.
Result<AdaptRequest> make_request(const Session& session, const AdaptOptions& options) {
  AdaptRequest request;
  request.settings = options.settings;
  ENGRAM_ASSIGN(request.settings.method, parse_adapt_method(options.method));
  ENGRAM_ASSIGN(request.settings.head_start, parse_head_start(options.head_start));
  if (options.resume && options.restart) {
    return Status(Code::invalid_argument,
                  "--resume goes on with what was begun, --restart throws it away; give one.");
  }
  if (!options.memory.empty()) {
    ENGRAM_ASSIGN(request.memory, parse_budget(options.memory));
  }
  request.patience = options.patience;
  request.threads = session.global.threads;
  const std::string& model = session.global.model;
  ENGRAM_ASSIGN(request.parent,
                ModelStore(session.global.home).find(model.empty() ? kDefaultModel : model));
  return request;
}

Status check_name(const Session& session, const std::string& name, const AdaptRequest& request,
                  bool replace) {
  if (name == request.parent.card.name) {
    return Status(Code::invalid_argument,
                  fmt::format("{} is the model to adapt; it is kept, and the adapted one needs a "
                              "name of its own: choose one with --as.",
                              name));
  }
  const ModelStore store(session.global.home);
  if (replace || store.find(name).status().code() == Code::not_found) return {};
  return Status(
      Code::invalid_argument,
      fmt::format("there is a model \"{}\" already; it was kept. Use --replace, or choose "
                  "another name with --as.",
                  name));
}

// What an earlier run left, if this one is to go on with it.
Result<std::optional<AdaptCheckpoint>> find_earlier(const AdaptCheckpointFile& file,
                                                    const AdaptOptions& options,
                                                    const std::string& name,
                                                    const Console& console) {
  if (options.restart) {
    ENGRAM_TRY(file.remove());
    return std::optional<AdaptCheckpoint>();
  }
  ENGRAM_ASSIGN(std::optional<AdaptCheckpoint> saved, file.load());
  if (saved && !options.resume) {
    return Status(Code::invalid_argument,
                  fmt::format("a training of {} was begun and did not end. Go on with --resume, or "
                              "throw it away and begin again with --restart. Nothing was changed.",
                              name));
  }
  if (!saved && options.resume) {
    console.log("nothing to resume: no training of " + name + " was begun. It begins now.");
  }
  return saved;
}

// Two checkpoints, since one replaces the other, and the model itself.
std::int64_t bytes_on_disk(const AdaptRun& run) {
  const auto values = std::int64_t(run.training().parameters().values.size());
  std::error_code unknown;
  const auto model = std::filesystem::file_size(run.request().parent.onnx, unknown);
  return 2 * 5 * 4 * values + 4 * values + (unknown ? 0 : std::int64_t(model)) + 1'000'000;
}

Result<AdaptRun::End> train(AdaptRun& run, const AdaptCheckpointFile& file,
                            const Console& console) {
  AdaptScreen screen(console, run.request().settings, AdaptScreen::Detail::table);
  screen.begin(run);
  const StopSignals signals;
  auto end = run.train({.step = [&](const AdaptStep& step) { screen.step(step); },
                        .epoch = [&](const auto& curves) { screen.epoch(curves); },
                        .stopped = [&] { return signals.stopped(); },
                        .save = [&](const AdaptCheckpoint& now) { return file.save(now); }});
  screen.end();
  if (end.ok() || end.status().code() != Code::bad_data) return end;
  // It diverged, and would again: what was begun is of no use.
  ENGRAM_TRY(file.remove());
  return Status(Code::bad_data,
                fmt::format("{} The models are as they were.", sentence(end.status().what())));
}

// Makes the model, and adds it to the store if it is better for it.
Result<AdaptedModel> store_adapted(const Session& session, const AdaptRun& run,
                                   const std::string& name, const AdaptOptions& options) {
  ENGRAM_ASSIGN(const ScratchFolder folder, ScratchFolder::make());
  ENGRAM_ASSIGN(AdaptedModel model, make_adapted_model(run, name, folder, session.console));
  model.is_added = options.always || is_worth_adding(run.before(), model.after);
  if (!model.is_added) return model;
  const ModelStore store(session.global.home);
  ENGRAM_TRY(store.add(model.stored.onnx, model.stored.card, options.replace));
  return model;
}

// --plan: what it would take. No picture is read.
Result<int> show_plan(const Session& session, const AdaptOptions& options,
                      const AdaptRequest& request) {
  ENGRAM_ASSIGN(const Tree tree, read_labelled(options.tree, options.labels));
  ENGRAM_ASSIGN(const VitModel model, read_plain_vit(request.parent));
  const std::int64_t memory = request.memory > 0 ? request.memory : usual_adapt_memory();
  ENGRAM_ASSIGN(const AdaptOutlook outlook,
                look_ahead(model, request.settings, int(tree.labels().size()),
                           int(tree.items.size()), memory, options.device));
  session.console.answer(outlook_text(outlook, session.console.colour()));
  session.console.object(outlook_json(outlook));
  return 0;
}

Result<int> run_adapt(const Session& session, const AdaptOptions& options) {
  const Console& console = session.console;
  ENGRAM_ASSIGN(AdaptRequest request, make_request(session, options));
  if (options.plan) return show_plan(session, options, request);
  ENGRAM_ASSIGN(const std::string name,
                adapted_name(request.parent.card.name, request.settings.method, options.as_name));
  ENGRAM_TRY(check_name(session, name, request, options.replace));
  ENGRAM_ASSIGN(Tree tree, read_labelled(options.tree, options.labels));
  for (const SkippedPicture& one : tree.skipped) console.warn(one.why.what());
  request.items = std::move(tree.items);
  ENGRAM_ASSIGN(const AdaptCheckpointFile file,
                AdaptCheckpointFile::open(session.global.home, name));
  ENGRAM_ASSIGN(const std::optional<AdaptCheckpoint> saved,
                find_earlier(file, options, name, console));
  ENGRAM_ASSIGN(AdaptRun run,
                AdaptRun::prepare(std::move(request), saved ? &*saved : nullptr, console));
  ENGRAM_TRY(check_room(session.global.home, bytes_on_disk(run)));
  ENGRAM_TRY(run.measure_before(console));
  ENGRAM_ASSIGN(const AdaptRun::End end, train(run, file, console));
  if (end == AdaptRun::End::stopped) {
    return Status(Code::busy,
                  fmt::format("stopped as asked, after {} of {}. All of it is kept: the "
                              "same command with --resume goes on.",
                              plural(run.training().epochs_done(), "epoch", "epochs"),
                              run.training().settings().epochs));
  }
  auto stored = store_adapted(session, run, name, options);
  if (!stored.ok()) {
    return Status(stored.status().code(),
                  fmt::format("{} What was trained is kept: the same command with --resume goes on "
                              "from there.",
                              sentence(stored.status().what())));
  }
  const AdaptedModel model = std::move(stored).value();
  if (const Status removed = file.remove(); !removed.ok()) console.warn(removed.what());

  const auto& curves = run.training().curves();
  if (!options.svg.empty()) {
    const std::string svg = adapt_curves_svg(curves, "Phase 1: " + name, model.stored.card.adapted);
    ENGRAM_TRY(replace_file(options.svg, std::as_bytes(std::span(svg))));
  }
  console.note("\n" + adapt_curves_text(curves));
  console.answer(fmt::format("{}\n{}\n", ended_text(run, end),
                             gain_text(run.before(), model, run.request().parent.card.name)));
  if (model.is_added)
    console.note(fmt::format(
        "{}  {} features, made in {}, OpenVINO's features within {:.0e} of ours. Use it with "
        "--model {}, in a state of its own.\n",
        paint(printable(name), Style::bold, console.colour()), model.stored.card.features,
        duration_text(training_seconds(curves)), std::max(model.difference, 1e-9),
        printable(name)));
  console.object(adapt_json(run, end, model));
  return run.pictures().skipped().empty() && tree.skipped.empty() ? 0 : kExitSomeSkipped;
}

void add_options(CLI::App& command, AdaptOptions& options) {
  command.add_option("--tree", options.tree, "A folder per class")->type_name("DIR");
  command.add_option("--labels", options.labels, "A file of lines \"path<TAB>label\"")
      ->type_name("FILE");
  command.add_option("--method", options.method, "adaptformer, ssf or vpt")
      ->type_name("NAME")
      ->required();
  command.add_option("--as", options.as_name, "Name of the new model (default MODEL-METHOD)")
      ->type_name("NAME");
  command.add_flag("--replace", options.replace, "If there is a model of that name, replace it");
  command.add_flag("--always", options.always,
                   "Add the model even if clearly fewer pictures held out are right than before");
  AdaptSettings& settings = options.settings;
  command.add_option("--epochs", settings.epochs, "Times every picture is shown (default 20)")
      ->type_name("N")
      ->check(CLI::Range(1, 10000));
  command.add_option("--batch", settings.batch, "Pictures of one step (default 48)")
      ->type_name("N")
      ->check(CLI::Range(1, 100000));
  command
      .add_option("--learning-rate", settings.learning_rate,
                  "Of the first epoch, falls to zero by a cosine (default 0.01)")
      ->type_name("X")
      ->check(between(1e-9, 999.0));
  command.add_option("--weight-decay", settings.weight_decay, "Default 0.0005")
      ->type_name("X")
      ->check(between(0.0, 1.0));
  command.add_option("--rank", settings.rank, "adaptformer: width of the bottleneck (default 64)")
      ->type_name("N")
      ->check(CLI::Range(1, 4096));
  command.add_option("--prompts", settings.prompts, "vpt: tokens of each block (default 5)")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  command
      .add_option(
          "--start-noise", settings.start_noise,
          "ssf: deviation of scales and shifts at the start; the authors' is 0.02 (default 0)")
      ->type_name("X")
      ->check(between(0.0, 9.0));
  command
      .add_option("--head-start", options.head_start,
                  "Where the head that trains along begins: means of the classes, or random as the "
                  "authors' (default means)")
      ->type_name("HOW");
  command
      .add_option("--patience", options.patience,
                  "Stop after so many epochs without a better loss on pictures held out; 0: never "
                  "(default 5)")
      ->type_name("N")
      ->check(CLI::Range(0, 10000));
  command
      .add_option("--seed", settings.seed,
                  "Of start, order, crops and held-out pictures (default 1)")
      ->type_name("N")
      ->check(seed_number());
  command
      .add_option("--memory", options.memory,
                  "For training and pictures, as 900MB or 2GB (default three quarters of what is "
                  "free)")
      ->type_name("BYTES");
  command.add_flag("--resume", options.resume, "Go on with a training that was stopped");
  command.add_flag("--restart", options.restart, "Throw such a training away and begin again");
  CLI::Option* const plan =
      command.add_flag("--plan", options.plan, "Only say what memory it would take, row by row");
  command
      .add_option("--device", options.device,
                  "With --plan: a device of `engram plan`, to estimate the time on its GPU")
      ->type_name("NAME")
      ->needs(plan);
  command.add_option("--svg", options.svg, "Write the curves of loss and accuracy there")
      ->type_name("FILE");
}

}  // namespace

void add_adapt(CLI::App& app, Session& session) {
  const auto options = std::make_shared<AdaptOptions>();
  const Manual manual{
      .name = "adapt",
      .summary = "adapt a backbone to your pictures, once, before the first task",
      .synopsis = "engram adapt --tree DIR --method adaptformer|ssf|vpt [--model NAME] [options]",
      .description =
          "Phase 1 of RanPAC: a small set of extra parameters in a frozen Vision Transformer is "
          "trained on the pictures of the first task, and then frozen for good. The result is a "
          "model of its own; the one it was made from stays as it is, and so do states that use "
          "it. Choose pictures like those that will come later: what the camera will see, in its "
          "light.\n\n"
          "Methods: adaptformer adds a bottleneck beside the MLP of each block, ssf scales and "
          "shifts what every operation gives (folded into the weights: no cost at run time), vpt "
          "adds learned tokens to each block. Pictures are cropped and mirrored at random, by "
          "--seed. About one in ten of each class is held out; the epoch that is best on these is "
          "kept, and nearest class means on them before and after tell whether it helped. If "
          "clearly fewer of them are right than before, the backbone stays frozen and no model is "
          "added "
          "(--always adds it; with --json \"model\" is null).\n\n"
          "After every epoch, and at Ctrl-C, the training is on disk (HOME/adapting): the same "
          "command with --resume goes on, to the bit as if it had never stopped. Only at the end "
          "is a model added, whole. Phase 1 is for plain Vision Transformers (ViT, DeiT, DINO, "
          "CLIP image towers); other models go on frozen, as in the paper. Exit code 75: stopped "
          "as asked.",
      .example =
          "$ engram adapt --tree photos/ --method adaptformer --model dinov2-vits14\n"
          "kept epoch 17 of 20, the best on pictures held out\n"
          "nearest class mean on 30 pictures held out: 24 right before (80.0 %), 27 after (90.0 "
          "%)\n"
          "$ engram learn --tree photos/ --model dinov2-vits14-adaptformer --state kitchen"};
  CLI::App* command = add_command(app, session, manual,
                                  [&session, options] { return run_adapt(session, *options); });
  add_options(*command, *options);
}

}  // namespace engram
