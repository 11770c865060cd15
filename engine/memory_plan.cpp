#include "engine/memory_plan.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "engine/class_list.h"
#include "engine/gcv_curve.h"
#include "engine/kept_samples.h"
#include "engine/kernel_matrix.h"
#include "engine/leave_one_out.h"
#include "engine/leverage.h"
#include "engine/projection.h"
#include "engine/readout_scores.h"
#include "platform/arena.h"

namespace engram {
namespace {

class Rows {
 public:
  explicit Rows(MemoryPlan& plan) : plan_(plan) {}
  void add(const char* name, std::int64_t rows, std::int64_t cols, const char* type,
           std::size_t element, Lifetime lifetime) {
    const std::size_t bytes = Arena::bytes_for(std::size_t(rows * cols), element);
    plan_.buffers.push_back(
        {name, fmt::format("({}, {}) {}", rows, cols, type), std::int64_t(bytes), lifetime});
  }

 private:
  MemoryPlan& plan_;
};

void add_scratch(const LearnerConfig& config, int batch, Lifetime lifetime,
                 const char* const (&names)[7], Rows& rows) {
  if (config.arithmetic == Arithmetic::exact) {
    rows.add(names[0], batch, config.features, "int8", 1, lifetime);
    rows.add(names[1], batch, config.hidden, "int32", 4, lifetime);
    rows.add(names[6], 1, batch, "int32", 4, lifetime);
  }
  rows.add(names[2], batch, config.hidden_units(), "float", 4, lifetime);
  if (config.arithmetic == Arithmetic::exact) {
    rows.add(names[3], batch, config.features, "float", 4, lifetime);
  }
  rows.add(names[4], batch, kLeverageProbes, "float", 4, lifetime);
  rows.add(names[5], kScoreTileRows, kScoreTileClasses, "float", 4, lifetime);
}

bool chooses_by_all(const LearnerConfig& config) {
  return config.lambda_rule == LambdaRule::loo || config.lambda_rule == LambdaRule::gcv;
}

bool has_means(const LearnerConfig& config) {
  return config.readout != ReadoutKind::ridge;
}

// Samples in whole blocks.
std::int64_t in_blocks(std::int64_t samples) {
  constexpr std::int64_t kBlock = KeptSamples::kBlockRows;
  return std::max<std::int64_t>((samples + kBlock - 1) / kBlock, 1) * kBlock;
}

// Room for class and number of so many samples grows by doubling.
std::int64_t numbers_of(std::int64_t kept) {
  return std::int64_t(std::bit_ceil(std::uint64_t(kept)));
}

// The kernel matrix with the room it grows by.
void add_factored(const LearnerConfig& config, std::int64_t samples, Rows& rows) {
  const std::int64_t kept = in_blocks(samples);
  const std::int64_t m = config.hidden_units();
  const std::int64_t room =
      KernelMatrix::capacity_for(int(samples + samples / 64), KeptSamples::kBlockRows);
  rows.add("samples kept", kept, std::int64_t(Projection::row_bytes(config)), "bytes", 1,
           Lifetime::learned);
  if (config.arithmetic == Arithmetic::exact) {
    rows.add("their hidden units", kept, m, "uint8", 1, Lifetime::learned);
  } else if (config.hidden != 0) {
    rows.add("their hidden units", kept, m, "float", 4, Lifetime::learned);
  }
  rows.add("their classes and numbers", 3, numbers_of(kept), "int32", 4, Lifetime::learned);
  rows.add("kernel matrix and its factor", room, room, "float", 4, Lifetime::learned);
  rows.add("diagonal of G", 1, m, "double", 8, Lifetime::learned);
}

// What the factored form still holds while G is made of it: all but the kernel matrix.
void add_move(const LearnerConfig& config, Rows& rows) {
  const std::int64_t kept = in_blocks(factored_limit(config));
  const std::int64_t hidden = config.arithmetic == Arithmetic::exact ? config.hidden
                              : config.hidden != 0                   ? 4 * config.hidden
                                                                     : 0;
  rows.add("samples and hidden units", kept, std::int64_t(Projection::row_bytes(config)) + hidden,
           "bytes", 1, Lifetime::move);
  rows.add("classes and numbers of these", 3, numbers_of(kept), "int32", 4, Lifetime::move);
  rows.add("diagonal of G before", 1, config.hidden_units(), "double", 8, Lifetime::move);
}

void add_dense(const LearnerConfig& config, std::int64_t samples, Rows& rows) {
  const std::int64_t m = config.hidden_units();
  const bool moved = factored_limit(config) > 0;
  const Lifetime lifetime = moved ? Lifetime::learned : Lifetime::learning;
  rows.add("G and its factor", m, m, "float", 4, lifetime);
  rows.add("diagonal of G", 1, m, "float", 4, lifetime);
  rows.add("some samples of the task", KeptSamples::kBlockRows,
           std::int64_t(Projection::row_bytes(config)), "bytes", 1, Lifetime::task);
  if (moved && learning_rows(config) < kMaxBatchRows) {
    add_scratch(config, kMaxBatchRows, lifetime,
                {"learn, dense: q", "learn, dense: p", "learn, dense: h",
                 "learn, dense: q as floats", "learn, dense: products with probes",
                 "learn, dense: some scores", "learn, dense: finite?"},
                rows);
  }
  if (!config.keep_features) return;
  const std::int64_t kept = in_blocks(samples);
  rows.add("samples kept", kept, std::int64_t(Projection::row_bytes(config)), "bytes", 1,
           Lifetime::learned);
  rows.add("classes and numbers of samples", 3, 2 * kept, "int32", 4, Lifetime::learned);
  if (moved) add_move(config, rows);
}

void add_end_of_task_factored(const LearnerConfig& config, int classes, std::int64_t samples,
                              Rows& rows) {
  rows.add("new readout", classes, config.hidden_units(), "float", 4, Lifetime::end_of_task);
  if (has_means(config)) {
    rows.add("new readout of features", classes, config.features, "float", 4,
             Lifetime::end_of_task);
    rows.add("sums of features, one left out", classes, config.features, "float", 4,
             Lifetime::end_of_task);
  }
  rows.add("solution on the kernel", classes, samples, "float", 4, Lifetime::end_of_task);
  if (chooses_by_all(config)) {
    const std::int64_t part = LeaveOneOut::part_of(int(samples), classes);
    const std::int64_t parts = LeaveOneOut::parts_of(int(samples), classes);
    rows.add("leave-one-out", samples + parts, LeaveOneOut::kScratchColumns + 1, "float", 4,
             Lifetime::end_of_task);
    rows.add("parts of the kernel", parts, part, "float", 4, Lifetime::end_of_task);
    rows.add("solution of these", classes, parts, "float", 4, Lifetime::end_of_task);
  }
  if (splits_task(config.lambda_rule)) {
    rows.add("factor of the kernel", samples, samples, "double", 8, Lifetime::end_of_task);
    rows.add("solution on trial", classes, samples, "double", 8, Lifetime::end_of_task);
  }
}

void add_end_of_task_dense(const LearnerConfig& config, int classes, std::int64_t samples,
                           Rows& rows) {
  const std::int64_t m = config.hidden_units();
  const std::int64_t learned = samples * 4 / 5, held_out = samples - learned;
  rows.add("new readout", classes, m, "float", 4, Lifetime::end_of_task);
  if (has_means(config)) {
    rows.add("new readout of features", classes, config.features, "float", 4,
             Lifetime::end_of_task);
  }
  if (chooses_by_all(config)) {
    rows.add("cross-validation", 3 * GcvStarts::vectors(classes, int(m)), m, "float", 4,
             Lifetime::end_of_task);
  }
  if (!splits_task(config.lambda_rule)) return;
  if (config.lambda_rule == LambdaRule::code && samples * 2 <= m) {
    rows.add("hidden units of the task", samples, m, "float", 4, Lifetime::end_of_task);
    rows.add("kernel of the task", samples, samples, "float", 4, Lifetime::end_of_task);
    rows.add("factor of the kernel", learned, learned, "double", 8, Lifetime::end_of_task);
    return;
  }
  rows.add("readout on trial", classes, m, "float", 4, Lifetime::end_of_task);
  rows.add("held-out hidden units", held_out, m, "float", 4, Lifetime::end_of_task);
  rows.add("held-out scores", held_out, classes, "float", 4, Lifetime::end_of_task);
  if (config.lambda_rule == LambdaRule::paper) {
    rows.add("class sums of the rest", classes, m, "float", 4, Lifetime::end_of_task);
  } else {
    rows.add("G of the task and its factor", m, m, "float", 4, Lifetime::end_of_task);
    rows.add("class sums of the task", classes, m, "float", 4, Lifetime::end_of_task);
    rows.add("hidden units of a batch", kMaxBatchRows, m, "float", 4, Lifetime::end_of_task);
  }
}

}  // namespace

int batch_rows(const LearnerConfig& config) {
  constexpr int kMinBatchRows = 16;
  constexpr int kUnits = 192 * 1024;  // hidden units of a batch: 768 KiB of floats
  return std::clamp(kUnits / config.hidden_units() / kMinBatchRows * kMinBatchRows, kMinBatchRows,
                    kMaxBatchRows);
}

int learning_rows(const LearnerConfig& config) {
  return factored_limit(config) > 0 ? batch_rows(config) : kMaxBatchRows;
}

const char* name(Lifetime lifetime) {
  switch (lifetime) {
    case Lifetime::always:
      return "always";
    case Lifetime::learning:
      return "learning";
    case Lifetime::learned:
      return "learned";
    case Lifetime::classes:
      return "classes";
    case Lifetime::task:
      return "task";
    case Lifetime::end_of_task:
      return "end of task";
    case Lifetime::move:
      return "during the move";
  }
  return "?";
}

std::int64_t MemoryPlan::bytes(Lifetime lifetime) const {
  std::int64_t sum = 0;
  for (const PlannedBuffer& buffer : buffers) {
    if (buffer.lifetime == lifetime) sum += buffer.bytes;
  }
  return sum;
}

std::int64_t MemoryPlan::total() const {
  std::int64_t sum = 0;
  for (const PlannedBuffer& buffer : buffers) sum += buffer.bytes;
  return sum - std::min(bytes(Lifetime::end_of_task), bytes(Lifetime::move));
}

std::int64_t MemoryPlan::learner_arena_bytes() const {
  return bytes(Lifetime::always) + bytes(Lifetime::learning);
}

std::int64_t planned_samples(const LearnerConfig& config) {
  return 2 * std::int64_t{config.hidden_units()};
}

MemoryPlan plan(const LearnerConfig& config, int classes, std::int64_t task_samples,
                std::optional<std::int64_t> samples) {
  MemoryPlan plan;
  Rows rows(plan);
  const int limit = factored_limit(config);
  const bool factored = limit > 0 && samples.has_value() && *samples <= limit;
  plan.form = factored ? Form::factored : Form::dense;
  const std::int64_t l = config.features, m = config.hidden_units();
  if (config.hidden > 0 && config.arithmetic == Arithmetic::exact) {
    rows.add("signs W", (l + 31) / 32, m, "uint32", 4, Lifetime::always);
  } else if (config.hidden > 0) {
    rows.add("weights W", l, m, "float", 4, Lifetime::always);
  }
  add_scratch(config, batch_rows(config), Lifetime::always,
              {"classify: q", "classify: p", "classify: h", "classify: q as floats",
               "classify: products with probes", "classify: some scores", "classify: finite?"},
              rows);
  add_scratch(config, learning_rows(config), Lifetime::learning,
              {"learn: q", "learn: p", "learn: h", "learn: q as floats",
               "learn: products with probes", "learn: some scores", "learn: finite?"},
              rows);
  rows.add("learn: class of each row", 1, kMaxBatchRows, "int32", 4, Lifetime::learning);
  const std::int64_t capacity = class_rows(classes);
  if (factored) {
    add_factored(config, *samples, rows);
  } else {
    add_dense(config, samples.value_or(planned_samples(config)), rows);
    rows.add("class sums C", capacity, m, "float", 4, Lifetime::classes);
  }
  rows.add("class sums F of features", capacity, l, "double", 8, Lifetime::classes);
  rows.add("readout", classes, m, "float", 4, Lifetime::classes);
  if (has_means(config)) rows.add("readout of features", classes, l, "float", 4, Lifetime::classes);
  if (!factored) rows.add("its ridge part", classes, m, "float", 4, Lifetime::classes);
  rows.add("probes of leverage", kLeverageProbes, m, "int16", 2, Lifetime::classes);
  rows.add("scores", batch_rows(config), classes, "float", 4, Lifetime::classes);
  if (factored) {
    add_end_of_task_factored(config, classes, *samples, rows);
    return plan;
  }
  if (splits_task(config.lambda_rule)) {
    const std::int64_t kept = std::max<std::int64_t>(task_samples, kReservedTaskSamples);
    rows.add("samples of the task", kept, std::int64_t(Projection::row_bytes(config)), "bytes", 1,
             Lifetime::task);
    rows.add("their classes and numbers", 3, kept, "int32", 4, Lifetime::task);
  }
  add_end_of_task_dense(config, classes, task_samples, rows);
  return plan;
}

std::int64_t other_readout_bytes(const LearnerConfig& config, int classes) {
  MemoryPlan plan;
  Rows rows(plan);
  const std::int64_t m = config.hidden_units();
  rows.add("G and its factor", m, m, "float", 4, Lifetime::end_of_task);
  rows.add("diagonal of G", 1, m, "float", 4, Lifetime::end_of_task);
  rows.add("class sums C", class_rows(classes), m, "float", 4, Lifetime::end_of_task);
  rows.add("hidden units of a batch", kOtherReadoutRows, m, "float", 4, Lifetime::end_of_task);
  // Of `balanced`, the larger one: what is solved for is in double.
  rows.add("means, and what is solved of them", 2 * std::int64_t{classes}, m, "float", 4,
           Lifetime::end_of_task);
  rows.add("right-hand sides", classes, m, "double", 8, Lifetime::end_of_task);
  rows.add("system of the classes", classes, classes, "double", 8, Lifetime::end_of_task);
  return plan.total();
}

}  // namespace engram
