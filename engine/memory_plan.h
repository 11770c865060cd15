// How much memory a learner takes, row by row, before it takes any.
//
// A pure function of config, class count, the size of a task and how much was learned: `engram plan`
// prints it, create compares it with the machine, and the arena has exactly the bytes of the rows that
// live in it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/config.h"
#include "engine/form.h"
#include "platform/status.h"

namespace engram {

enum class Lifetime : std::uint8_t {
  always,       // in the arena, from start to end; a reader needs only these
  learning,     // in the arena, from start to end, of a learner that learns
  learned,      // grows with what was learned, or is taken when the form becomes dense
  classes,      // grows with the number of classes
  task,         // samples of the current task, until it ends
  end_of_task,  // while a readout is computed
  move,         // once, while the form becomes dense
};
const char* name(Lifetime lifetime);

struct PlannedBuffer {
  std::string name;
  std::string shape;  // "(10000, 10000) float"
  std::int64_t bytes = 0;
  Lifetime lifetime = Lifetime::always;
};

struct MemoryPlan {
  Form form = Form::dense;
  std::vector<PlannedBuffer> buffers;

  std::int64_t bytes(Lifetime lifetime) const;
  // The peak: all at once, but never both a move and the end of a task.
  std::int64_t total() const;
  // Arena of a reader (always) and of a learner (always and learning).
  std::int64_t scorer_arena_bytes() const { return bytes(Lifetime::always); }
  std::int64_t learner_arena_bytes() const;
};

// Rows of one kernel call; larger batches are cut. Where M is large, fewer rows keep scratch small
// beside what was learned; only the dense form, whose G is read and written once per batch, always
// learns in the largest batches.
inline constexpr int kMaxBatchRows = 256;
int batch_rows(const LearnerConfig& config);
// Of a new learner when it learns.
int learning_rows(const LearnerConfig& config);
// Samples of a task for which memory is reserved at start; longer tasks grow by doubling.
inline constexpr int kReservedTaskSamples = 4096;

// Samples to plan for where nobody says how many there will be: four times what the factored form
// holds.
std::int64_t planned_samples(const LearnerConfig& config);

// config must be valid. task_samples: of the longest task, for the buffers of its end. samples:
// learned in all; not given: planned_samples.
MemoryPlan plan(const LearnerConfig& config, int classes, std::int64_t task_samples = 1000,
                std::optional<std::int64_t> samples = std::nullopt);

inline constexpr int kOtherReadoutRows = 64;  // of hidden units at a time
// What a readout of kind lda or balanced takes for the time being while the form is factored: G and C of
// its samples. In the dense form they are there.
std::int64_t other_readout_bytes(const LearnerConfig& config, int classes);

// A device by name, and what the learner may use of its memory: the rest is for the operating
// system, drivers, camera buffers and the backbone.
struct Device {
  const char* name;
  std::int64_t memory;  // bytes in all
  std::int64_t budget;  // bytes for the learner
};
std::span<const Device> devices();
// "orin-nano-8gb", or bytes: "3000000000", "512MiB", "4GB" (all of them for the learner).
Result<std::int64_t> parse_budget(const std::string& text);

// The largest M (multiple of 100, at most 20 000) whose plan fits `budget` bytes, in the dense form and
// on the way to it; config.hidden is ignored. samples: as in plan, at least as many as make it dense.
// beside: what else has to fit, growing with M (staging_bytes of device_plan.h); null: nothing.
// out_of_memory: not even 100 fits.
using BytesBeside = std::int64_t (*)(const LearnerConfig& config, int classes);
Result<int> largest_hidden(LearnerConfig config, int classes, std::int64_t budget,
                           std::int64_t task_samples = 1000,
                           std::optional<std::int64_t> samples = std::nullopt,
                           BytesBeside beside = nullptr);

}  // namespace engram
