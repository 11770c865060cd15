#include "tools/evaluate/evaluation_run.h"

#include <fmt/format.h>

#include "tools/console/progress.h"
#include "tools/features/class_targets.h"

namespace engram {
namespace {

Result<ProtocolResult> run_once(ProtocolOptions protocol, const EvaluationRow& row,
                                const EvaluationData& data, const Console& console) {
  // How many tasks there are depends on protocol, data and head: the protocol tells.
  Progress progress(console.shows_progress(), row.name, 0, "task");
  int done = 0;
  protocol.progress = [&](const ProtocolProgress& now) {
    progress.expect(now.tasks);
    progress.advance(now.task - 1 - done);
    done = now.task - 1;
  };
  return run_protocol(data.view(), protocol);
}

}  // namespace

Status add_runs(const EvaluateOptions& options, const EvaluationData& data,
                std::span<const std::uint32_t> class_seeds, const RunScale& scale,
                const Console& console, std::span<EvaluationRow> rows) {
  ENGRAM_ASSIGN(ProtocolOptions protocol,
                protocol_options(options, int(data.train.classes.size())));
  ClassTargets targets;
  if (!options.targets.empty()) {
    ENGRAM_ASSIGN(targets, read_class_targets(options.targets, data.train.classes));
    protocol.targets = targets.view();
  }
  for (EvaluationRow& row : rows) {
    row.config.features = data.train.width;
    row.config.feature_scale = scale.feature_scale;
    row.config.hidden_mul = scale.hidden_mul;
    protocol.head = row.head;
    protocol.config = row.config;
    for (const std::uint32_t class_seed : class_seeds) {
      for (const std::uint64_t projection_seed : options.projection_seeds) {
        protocol.class_seed = class_seed;
        protocol.config.seed = projection_seed;
        ENGRAM_ASSIGN(ProtocolResult result, run_once(protocol, row, data, console));
        row.runs.push_back({class_seed, projection_seed, std::move(result)});
        if (!projects(row.head)) break;  // the same for every projection
      }
    }
  }
  return {};
}

Status run_rows(const EvaluateOptions& options, const EvaluationData& data, const Console& console,
                Evaluation& evaluation) {
  return add_runs(options, data, options.class_seeds,
                  {evaluation.feature_scale, evaluation.hidden_mul}, console, evaluation.rows);
}

}  // namespace engram
