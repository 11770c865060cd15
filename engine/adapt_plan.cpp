#include "engine/adapt_plan.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace engram {
namespace {

std::int64_t bytes_of(const BufferVector<float>& values) {
  return std::int64_t(values.size() * sizeof(float));
}
std::int64_t bytes_of(const VitLinear& linear) {
  return bytes_of(linear.weight) + bytes_of(linear.bias);
}
std::int64_t bytes_of(const VitNorm& norm) {
  return bytes_of(norm.weight) + bytes_of(norm.bias);
}

PlannedBuffer row(const char* name, const std::string& shape, std::int64_t bytes) {
  return {name, shape, bytes, Lifetime::always};
}

AdaptPlan plan_of(const VitFacts& facts, const AdaptSettings& settings, int classes,
                  int micro_batch, int recomputed) {
  AdaptPlan plan;
  plan.micro_batch = micro_batch;
  plan.recomputed = recomputed;
  const std::size_t count = AdaptParameters::count(facts.shape, settings, classes);
  BufferList list(nullptr);
  const AdaptBuffers buffers(plan.work(facts, settings), count, classes, list);
  plan.arena_bytes = list.bytes();
  plan.buffers = std::move(list).rows();
  const auto bytes = std::int64_t(count * sizeof(float));
  plan.buffers.insert(
      plan.buffers.begin(),
      {row("weights of the model", fmt::format("({}) float", facts.weight_bytes / 4),
           facts.weight_bytes),
       row("parameters", fmt::format("(1, {}) float", count), bytes),
       row("pictures", fmt::format("({}, {}) float", micro_batch, buffers.picture_size),
           std::int64_t{4} * micro_batch * buffers.picture_size)});
  return plan;
}

// The largest micro-batches of at most `most` pictures that a batch falls into evenly.
int even_part(int batch, int most) {
  const int parts = (batch + most - 1) / most;
  return (batch + parts - 1) / parts;
}

struct Choice {
  int micro_batch, recomputed;
};

// From the quickest to the smallest.
std::vector<Choice> choices(const VitShape& shape, const AdaptSettings& settings) {
  const bool is_free = settings.micro_batch == 0, recomputes = settings.recomputed_blocks < 0;
  const auto pictures_of = [&](int tokens) {
    return std::clamp((tokens + shape.tokens() - 1) / shape.tokens(), 1, settings.batch);
  };
  const int most =
      is_free ? even_part(settings.batch, pictures_of(kManyTokens)) : settings.micro_batch;
  const int few = is_free ? std::min(pictures_of(kFewTokens), most) : most;
  const int first = recomputes ? 0 : settings.recomputed_blocks;
  const int last = recomputes ? std::max(shape.blocks - 2, 0) : first;
  std::vector<Choice> all;
  for (int pictures = most; pictures >= few; --pictures) all.push_back({pictures, first});
  for (int blocks = first + 1; blocks <= last; ++blocks) all.push_back({few, blocks});
  for (int pictures = few - 1; is_free && pictures >= 1; --pictures) {
    all.push_back({pictures, last});
  }
  return all;
}

}  // namespace

VitFacts VitFacts::of(const VitModel& model) {
  VitFacts facts{model.shape, model.input_norm.has_value(), 0};
  std::int64_t& bytes = facts.weight_bytes;
  bytes = bytes_of(model.patch) + bytes_of(model.prefix) + bytes_of(model.positions) +
          bytes_of(model.norm);
  if (model.input_norm) bytes += bytes_of(*model.input_norm);
  if (model.projection) bytes += bytes_of(*model.projection);
  for (const VitBlock& block : model.blocks) {
    bytes += bytes_of(block.norm1) + bytes_of(block.qkv) + bytes_of(block.proj) +
             bytes_of(block.scale1) + bytes_of(block.norm2) + bytes_of(block.fc1) +
             bytes_of(block.fc2) + bytes_of(block.scale2);
  }
  return facts;
}

VitFacts VitFacts::of(const VitShape& shape) {
  const std::int64_t d = shape.width, f = shape.hidden;
  const std::int64_t block = 4 * d + (d + 1) * 3 * d + (d + 1) * d + (d + 1) * f + (f + 1) * d;
  const std::int64_t patch = (3 * std::int64_t{shape.patch} * shape.patch + 1) * d;
  const std::int64_t count = patch + (shape.prefix + shape.tokens() + 2) * d + shape.blocks * block;
  return {shape, false, count * 4};
}

std::int64_t AdaptPlan::total() const {
  std::int64_t sum = 0;
  for (const PlannedBuffer& buffer : buffers) sum += buffer.bytes;
  return sum;
}

VitWork AdaptPlan::work(const VitFacts& facts, const AdaptSettings& settings) const {
  VitWork work = VitWork::of(facts.shape, facts.has_input_norm, &settings, micro_batch);
  work.trains = true;
  work.recomputed = recomputed;
  return work;
}

Result<AdaptPlan> plan_adaptation(const VitFacts& facts, const AdaptSettings& settings, int classes,
                                  std::int64_t budget) {
  std::int64_t least = 0;
  for (const Choice& choice : choices(facts.shape, settings)) {
    AdaptPlan plan = plan_of(facts, settings, classes, choice.micro_batch, choice.recomputed);
    if (plan.total() <= budget) return plan;
    least = plan.total();
  }
  const bool is_free = settings.micro_batch == 0 && settings.recomputed_blocks < 0;
  return Status(
      Code::out_of_memory,
      fmt::format("Phase 1 with {} needs at least {} MB for this model, and {} MB are "
                  "there. Nothing was changed; {}.",
                  name(settings.method), (least + 999'999) / 1'000'000, budget / 1'000'000,
                  is_free ? "close other programs, or take a smaller model"
                          : "leave the micro-batch and recomputed blocks to the plan"));
}

AdaptBuffers::AdaptBuffers(const VitWork& work, std::size_t parameters, int classes,
                           BufferList& list)
    : vit(work, list),
      head(work.pictures, classes, work.shape.features, list),
      picture_size(3 * work.shape.image * work.shape.image),
      gradients(list.take("gradients", 1, int(parameters))),
      velocities(list.take("velocities", 1, int(parameters))),
      good_values(list.take("parameters of the last epoch", 1, int(parameters))),
      good_velocities(list.take("velocities of the last epoch", 1, int(parameters))) {}

}  // namespace engram
