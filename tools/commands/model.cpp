#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "engine/feature_extractor.h"
#include "engine/model_store.h"
#include "platform/engine_supply.h"
#include "platform/steady_time.h"
#include "tools/commands/add_model_options.h"
#include "tools/commands/commands.h"
#include "tools/commands/options.h"
#include "tools/console/progress.h"
#include "tools/console/table.h"
#include "tools/console/terminal.h"
#include "tools/engine_words.h"
#include "tools/exit_code.h"
#include "tools/half_trial.h"

namespace engram {
namespace {

nlohmann::ordered_json card_object(const ModelCard& card) {
  return nlohmann::ordered_json::parse(to_json(card));
}

Result<int> run_add(const Session& session, const AddModelOptions& options) {
  const Console& console = session.console;
  ENGRAM_ASSIGN(const AddModelRequest request, make_request(options, session.global));
  const double start = seconds_now();
  ENGRAM_ASSIGN(const ModelCard card, add_model_with_progress(request, console));
  console.note(fmt::format("{}  {} features, {}x{} pixels, licence {}, added in {:.1f} s\n",
                           paint(printable(card.name), Style::bold, console.colour()),
                           card.features, card.preprocess.crop, card.preprocess.crop,
                           printable(card.licence), seconds_now() - start));
  console.object(card_object(card));
  return 0;
}

Result<int> run_list(const Session& session) {
  const Console& console = session.console;
  ENGRAM_ASSIGN(const std::vector<StoredModel> models, ModelStore(session.global.home).list());
  Table table({{"name"},
               {"features", Align::right},
               {"pixels", Align::right},
               {"licence"},
               {"sha256"},
               {"adapted from"}});
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const StoredModel& model : models) {
    const ModelCard& card = model.card;
    list.push_back(card_object(card));
    if (!model.problem.empty()) {  // of its card no more than the name is known
      console.warn(fmt::format("{} cannot be used: {}", card.name, model.problem));
      table.add({printable(card.name), "-", "-", "-", "-", ""});
      list.back()["problem"] = model.problem;
      continue;
    }
    table.add({printable(card.name), fmt::to_string(card.features),
               fmt::to_string(card.preprocess.crop), printable(card.licence),
               card.sha256.substr(0, 16), printable(card.parent.substr(0, card.parent.find(' ')))});
  }
  if (!models.empty()) console.answer(table.text(console.colour()));
  if (models.empty()) {
    console.answer(fmt::format("no model in {} yet. Add one with: engram model add {}\n",
                               printable(session.global.home), builtin_models().front().name));
  }
  console.object({{"home", session.global.home}, {"models", list}});
  return 0;
}

Result<int> run_show(const Session& session, const std::string& name) {
  ENGRAM_ASSIGN(const StoredModel model, ModelStore(session.global.home).find(name));
  session.console.answer(card_object(model.card).dump(2) + "\n" + printable(model.onnx) + "\n");
  nlohmann::ordered_json answer = card_object(model.card);
  answer["file"] = model.onnx;
  session.console.object(answer);
  return 0;
}

Result<int> run_remove(const Session& session, const std::string& name) {
  const ModelStore models(session.global.home);
  ENGRAM_TRY(models.remove(name));
  session.console.note(
      fmt::format("{} was removed. States made with it need it again before they can be used.\n",
                  printable(name)));
  session.console.object({{"removed", name}});
  return 0;
}

struct HalfOptions {
  std::string name;
  HalfTrialSource source;
  double agreement = 99.5;  // in %
};

Result<int> run_half(const Session& session, const HalfOptions& options) {
  const Console& console = session.console;
  ENGRAM_ASSIGN(const StoredModel model, ModelStore(session.global.home).find(options.name));
  HalfTrialSource source = options.source;
  source.threads = session.global.threads;
  ENGRAM_ASSIGN(const HalfTrial trial, try_half(model, source, console));
  const double agreement = 100 * trial.agreement();
  console.answer(fmt::format(
      "{}: {} operations in half, {} in float, {} casts\n"
      "{} of {} test pictures have the same label in half as in float ({:.1f} %); right in float "
      "{}, in half {}\n"
      "{} of {} quantised features differ, by {} at most\n",
      printable(options.name), trial.half_operations, trial.float_operations, trial.casts,
      trial.same, trial.pictures, agreement, trial.right_float, trial.right_half, trial.other_bytes,
      trial.values, trial.largest_step));
  console.object({{"model", options.name},
                  {"half_operations", trial.half_operations},
                  {"float_operations", trial.float_operations},
                  {"casts", trial.casts},
                  {"pictures", trial.pictures},
                  {"same_label", trial.same},
                  {"agreement", trial.agreement()},
                  {"enough", agreement >= options.agreement},
                  {"right_float", trial.right_float},
                  {"right_half", trial.right_half},
                  {"features", trial.values},
                  {"features_with_other_byte", trial.other_bytes},
                  {"largest_step", trial.largest_step}});
  if (agreement >= options.agreement) return 0;
  console.warn(fmt::format(
      "{}: half precision changes the labels of {} of {} pictures; {} % must stay the same",
      printable(options.name), trial.pictures - trial.same, trial.pictures, options.agreement));
  return exit_code(Code::bad_data);
}

struct EngineOptions {
  std::string name;
  std::optional<std::int64_t> memory_mb;  // none: usual_build_memory()
};

Result<int> run_engine(const Session& session, const EngineOptions& options) {
  const Console& console = session.console;
  ENGRAM_ASSIGN(const StoredModel model, ModelStore(session.global.home).find(options.name));
  EngineLibrary* library = engine_library();
  if (library == nullptr) {
    return Status(Code::not_supported,
                  "this engram was built without TensorRT, so that backbones run on the CPU. Build "
                  "it where TensorRT's headers are: JetPack has them.");
  }
  EngineOrder order = engine_order(model, session.global.home, library);
  if (options.memory_mb) order.request.memory = *options.memory_mb << 20;
  order.try_again = true;
  std::vector<std::string> notes;
  order.on_note = [&](const std::string& note) { notes.push_back(note); };
  const double start = seconds_now();
  constexpr int kSteps = 1000;
  Result<std::unique_ptr<Backbone>> engine = [&] {
    Progress progress(console.shows_progress(), "engine", kSteps);
    int shown = 0;
    order.build.on_progress = [&](const BuildState& state) {
      const int now = static_cast<int>(state.fraction * kSteps);
      progress.advance(now - std::exchange(shown, now));
      progress.tell(build_words({.fraction = state.fraction, .seconds_left = state.seconds_left}));
    };
    return supply_engine(order);
  }();
  for (const std::string& note : notes) console.warn(note);
  if (!engine.ok()) return engine.status();
  ENGRAM_ASSIGN(const EngineDevice device, library->device());
  console.note(fmt::format("{} is ready on {} ({}), in {}\n", printable(options.name), device.gpu,
                           device.library, duration_text(seconds_now() - start)));
  console.object({{"model", options.name},
                  {"gpu", device.gpu},
                  {"library", device.library},
                  {"notes", notes}});
  return 0;
}

}  // namespace

void add_model_command(CLI::App& app, Session& session) {
  CLI::App* model = add_command(
      app, session,
      {.name = "model",
       .summary = "the backbones on this machine",
       .synopsis = "engram model add|list|show|engine|half|remove ...",
       .description = "A backbone is a frozen pre-trained network that turns a picture into "
                      "features; the learner works on these. Models are kept with a card that says "
                      "how to use them.",
       .example = "engram model add efficientnet-lite0\n"
                  "engram model list"},
      nullptr);
  model->require_subcommand(1);

  const auto add = std::make_shared<AddModelOptions>();
  CLI::App* add_sub = add_command(*model, session, add_model_manual(),
                                  [&session, add] { return run_add(session, *add); });
  add_model_options(*add_sub, *add);

  add_command(*model, session,
              {.name = "list",
               .summary = "list the models on this machine",
               .synopsis = "engram model list",
               .description = "Prints name, features, input size, licence, content hash, and which "
                              "model an adapted one "
                              "was made from.",
               .example = "engram model list --json"},
              [&session] { return run_list(session); });

  const auto name = std::make_shared<std::string>();
  add_command(*model, session,
              {.name = "show",
               .summary = "print a model's card",
               .synopsis = "engram model show NAME",
               .description = "Prints everything that is known about a model, and its file.",
               .example = "engram model show efficientnet-lite0"},
              [&session, name] { return run_show(session, *name); })
      ->add_option("NAME", *name, "A model of `engram model list`")
      ->required();

  const auto engine = std::make_shared<EngineOptions>();
  CLI::App* engine_sub = add_command(
      *model, session,
      {.name = "engine",
       .summary = "build a model's engine for the GPU of this machine",
       .synopsis = "engram model engine NAME [--memory MB]",
       .description =
           "TensorRT turns a model into an engine for one GPU, which takes minutes. It is built in "
           "half precision by a child process that may take --memory (what the driver takes for "
           "the "
           "GPU is not counted in it), and kept in HOME/engines "
           "with a seal that only this user on this machine can make: an engine is code, and a "
           "stranger's is never loaded. From then on the GPU computes the features. Without an "
           "engine, or if it fails, the CPU does. A model that TensorRT refuses in half is tried "
           "once "
           "more in float; one that it refuses is remembered, and tried again by this command or "
           "after "
           "an update of TensorRT or of the driver.",
       .example = "engram model engine efficientnet-lite0"},
      [&session, engine] { return run_engine(session, *engine); });
  engine_sub->add_option("NAME", engine->name, "A model of `engram model list`")->required();
  engine_sub
      ->add_option("--memory", engine->memory_mb,
                   "What building may take, in MB (4096, or half of what is free if that is less)")
      ->type_name("MB")
      ->check(CLI::Range(256, 1 << 20));

  const auto half = std::make_shared<HalfOptions>();
  CLI::App* half_sub = add_command(
      *model, session,
      {.name = "half",
       .summary = "check that half precision gives the same labels",
       .synopsis = "engram model half NAME --train DIR --test DIR [--agreement PERCENT]",
       .description =
           "A GPU computes the backbone in half precision. This command rewrites the model so and "
           "computes it here with every value rounded as the GPU rounds it, which is slow. A "
           "learner is taught the pictures of --train in float and asked about those of --test in "
           "float and in half (both: a folder per class). Ends with exit code 65 where fewer than "
           "--agreement of 100 labels are the same. Nothing is stored.",
       .example = "engram model half efficientnet-lite0 --train photos/train --test photos/test"},
      [&session, half] { return run_half(session, *half); });
  half_sub->add_option("NAME", half->name, "A model of `engram model list`")->required();
  half_sub->add_option("--train", half->source.train, "Pictures to teach")
      ->type_name("DIR")
      ->required();
  half_sub->add_option("--test", half->source.test, "Pictures to ask about")
      ->type_name("DIR")
      ->required();
  half_sub->add_option("--agreement", half->agreement, "Labels that must be the same, in % (99.5)")
      ->type_name("PERCENT")
      ->check(between(0.0, 100.0));

  add_command(*model, session,
              {.name = "remove",
               .summary = "remove a model from this machine",
               .synopsis = "engram model remove NAME",
               .description = "Removes the model's file and card. States stay as they are, but "
                              "cannot be used before the same model is added again.",
               .example = "engram model remove efficientnet-lite0"},
              [&session, name] { return run_remove(session, *name); })
      ->add_option("NAME", *name, "A model of `engram model list`")
      ->required();
}

}  // namespace engram
