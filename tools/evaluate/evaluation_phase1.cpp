#include "tools/evaluate/evaluation_phase1.h"

#include <fmt/format.h>

#include "engine/protocol_schedule.h"
#include "tools/adapt/adapt_model.h"
#include "tools/adapt/adapt_report.h"
#include "tools/adapt/adapt_screen.h"
#include "tools/evaluate/evaluation_run.h"
#include "tools/open_model.h"

namespace engram {
namespace {

Result<StoredModel> find_parent(const GlobalOptions& global) {
  return ModelStore(global.home).find(global.model.empty() ? kDefaultModel : global.model);
}

// Training pictures of the first task of this class order.
Result<std::vector<LabelledPath>> first_task(const EvaluateOptions& options,
                                             const EvaluationData& data, std::uint32_t seed) {
  ENGRAM_ASSIGN(ProtocolOptions protocol,
                protocol_options(options, int(data.train.classes.size())));
  protocol.class_seed = seed;
  ENGRAM_ASSIGN(const Schedule schedule, make_schedule(data.view(), protocol));
  std::vector<int> samples = schedule.train.front();
  std::sort(samples.begin(), samples.end());
  std::vector<LabelledPath> items;
  for (const int i : samples) {
    const int label = data.train.y[std::size_t(i)];
    items.push_back({data.train.paths[std::size_t(i)], data.train.classes[std::size_t(label)]});
  }
  return items;
}

struct Adapted {
  Phase1Run report;
  EvaluationData data;
};

Result<Adapted> adapt_to_first_task(const EvaluateOptions& options, const EvaluationData& data,
                                    std::uint32_t seed, const Session& session) {
  AdaptRequest request;
  ENGRAM_ASSIGN(request.parent, find_parent(session.global));
  ENGRAM_ASSIGN(request.items, first_task(options, data, seed));
  request.settings = options.phase1_settings;
  ENGRAM_ASSIGN(request.settings.method, parse_adapt_method(options.phase1));
  ENGRAM_ASSIGN(request.settings.head_start, parse_head_start(options.phase1_head_start));
  request.threads = session.global.threads;
  ENGRAM_ASSIGN(AdaptRun run, AdaptRun::prepare(std::move(request), nullptr, session.console));
  ENGRAM_TRY(run.measure_before(session.console));
  AdaptScreen screen(session.console, run.request().settings, AdaptScreen::Detail::bar);
  ENGRAM_ASSIGN(const AdaptRun::End end,
                run.train({.step = [&](const AdaptStep& step) { screen.step(step); },
                           .epoch = [&](const auto& curves) { screen.epoch(curves); },
                           .stopped = {},
                           .save = {}}));
  screen.end();
  ENGRAM_ASSIGN(const ScratchFolder folder, ScratchFolder::make());
  ENGRAM_ASSIGN(const AdaptedModel model,
                make_adapted_model(run, "adapted", folder, session.console));
  Adapted adapted;
  const auto& curves = run.training().curves();
  adapted.report = {.class_seed = seed,
                    .adapted = model.stored.card.adapted,
                    .kept_epoch = best_epoch(curves) + 1,
                    .stopped_early = end == AdaptRun::End::early,
                    .before = run.before(),
                    .after = model.after,
                    .curves = curves,
                    .seconds = training_seconds(curves),
                    .feature_scale = model.stored.card.feature_scale,
                    .hidden_mul = model.stored.card.hidden_mul};
  ENGRAM_ASSIGN(FeatureExtractor extractor,
                FeatureExtractor::open(model.stored, {.threads = session.global.threads}));
  const auto open = [&]() -> Result<FeatureExtractor*> { return &extractor; };
  ENGRAM_ASSIGN(adapted.data, read_evaluation_data(options.source, open, session.console));
  return adapted;
}

}  // namespace

Status check_phase1(const EvaluateOptions& options, const GlobalOptions& global) {
  if (is_feature_file(options.source.train)) {
    return Status(Code::invalid_argument,
                  "--phase1 adapts a backbone, so it needs pictures: --train and --test must be "
                  "folders, not feature files.");
  }
  if (options.open_set > 0) {
    return Status(Code::invalid_argument, "--phase1 and --open-set do not go together.");
  }
  ENGRAM_TRY(parse_adapt_method(options.phase1).status());
  ENGRAM_TRY(parse_head_start(options.phase1_head_start).status());
  ENGRAM_ASSIGN(const StoredModel parent, find_parent(global));
  return read_plain_vit(parent).status();
}

Status run_phase1(const EvaluateOptions& options, const EvaluationData& data,
                  const Session& session, Evaluation& evaluation) {
  std::vector<EvaluationRow> rows = evaluation.rows;
  for (EvaluationRow& row : rows) {
    row.runs.clear();
    row.phase1 = options.phase1;
    row.name += ", phase 1 " + options.phase1;
    row.series += ", phase 1 " + options.phase1;
  }
  for (const std::uint32_t seed : options.class_seeds) {
    ENGRAM_ASSIGN(Adapted adapted, adapt_to_first_task(options, data, seed, session));
    const RunScale scale{adapted.report.feature_scale, adapted.report.hidden_mul};
    ENGRAM_TRY(add_runs(options, adapted.data, {&seed, 1}, scale, session.console, rows));
    evaluation.extract_seconds += adapted.data.seconds;
    evaluation.phase1.push_back(std::move(adapted.report));
  }
  std::vector<EvaluationRow> beside;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    beside.push_back(std::move(evaluation.rows[i]));
    beside.push_back(std::move(rows[i]));
  }
  evaluation.rows = std::move(beside);
  return {};
}

}  // namespace engram
