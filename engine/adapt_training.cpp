#include "engine/adapt_training.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "engine/adapt_training_impl.h"
#include "engine/metrics.h"
#include "platform/device_staging.h"
#include "platform/philox.h"
#include "platform/steady_time.h"

namespace engram {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

double percent(const HeadResult& sums) {
  return sums.count == 0 ? kNone : 100.0 * sums.right / sums.count;
}
double mean_loss(const HeadResult& sums) {
  return sums.count == 0 ? kNone : sums.loss / sums.count;
}

Status refuse(std::string what) {
  return Status(Code::invalid_argument, "Phase 1: " + std::move(what));
}

Status check_data(const AdaptData& data) {
  const int count = int(data.labels.size());
  if (data.classes < 2) {
    return refuse(
        fmt::format("the first task has {} class{}, and it takes two to tell apart. "
                    "Nothing was trained.",
                    data.classes, data.classes == 1 ? "" : "es"));
  }
  for (const int label : data.labels) {
    if (label >= 0 && label < data.classes) continue;
    return refuse(fmt::format("a picture is of class {}, and there are {}.", label, data.classes));
  }
  std::vector<char> seen(std::size_t(data.classes), 0), is_out(std::size_t(count), 0);
  for (const int sample : data.held_out) {
    if (sample < 0 || sample >= count) {
      return refuse(fmt::format("picture {} is to be held out, and there are {}.", sample, count));
    }
    is_out[std::size_t(sample)] = 1;
  }
  for (int sample = 0; sample < count; ++sample) {
    if (is_out[std::size_t(sample)] == 0) seen[std::size_t(data.labels[std::size_t(sample)])] = 1;
  }
  if (std::ranges::count(seen, 1) >= 2) return {};
  return refuse(
      "the pictures to train on are of less than two classes. Nothing was trained; hold out "
      "fewer, or give more.");
}

}  // namespace

Result<AdaptTraining> AdaptTraining::create(const VitModel& model, const AdaptSettings& settings,
                                            const AdaptData& data, std::int64_t memory_budget,
                                            const Kernels& kernels) {
  ENGRAM_TRY(check_adapt_settings(settings, model.shape));
  ENGRAM_TRY(check_data(data));
  ENGRAM_CHECK(data.pictures != nullptr);
  ENGRAM_ASSIGN(AdaptPlan plan,
                plan_adaptation(VitFacts::of(model), settings, data.classes, memory_budget));
  const DeviceHold hold;  // the GPU clears new memory
  ENGRAM_ASSIGN(Arena arena, Arena::create(std::size_t(plan.arena_bytes)));
  try {
    return AdaptTraining(
        std::make_unique<Impl>(model, settings, data, std::move(plan), kernels, std::move(arena)));
  } catch (const std::bad_alloc&) {  // a lost device gives none either
    if (const DeviceMemory* device = buffer_memory()) ENGRAM_TRY(DeviceStaging::of(*device).lost());
    return Status(Code::out_of_memory,
                  "The machine refused the memory for Phase 1. Nothing was changed; close other "
                  "programs.");
  }
}

AdaptTraining::AdaptTraining(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
AdaptTraining::AdaptTraining(AdaptTraining&&) noexcept = default;
AdaptTraining& AdaptTraining::operator=(AdaptTraining&&) noexcept = default;
AdaptTraining::~AdaptTraining() = default;

bool AdaptTraining::done() const {
  return epochs_done() >= impl_->settings.epochs;
}
int AdaptTraining::epochs_done() const {
  return int(impl_->curves.size());
}
const std::vector<AdaptEpoch>& AdaptTraining::curves() const {
  return impl_->curves;
}
const AdaptParameters& AdaptTraining::parameters() const {
  return impl_->parameters;
}
const AdaptPlan& AdaptTraining::plan() const {
  return impl_->plan;
}
const AdaptSettings& AdaptTraining::settings() const {
  return impl_->settings;
}

Status AdaptTraining::epoch(const AdaptProgress& progress) {
  if (done()) {
    return refuse(fmt::format("all {} epochs are done; the parameters are as they should be.",
                              impl_->settings.epochs));
  }
  return impl_->run_epoch(progress);
}

int AdaptTraining::Impl::steps() const {
  return int((trained.size() + std::size_t(settings.batch) - 1) / std::size_t(settings.batch));
}

std::vector<int> AdaptTraining::Impl::order_of(int epoch) const {
  const PhiloxWords words =
      philox({std::uint32_t(epoch), 0, 0, std::uint32_t(PhiloxStream::order)}, settings.seed);
  std::vector<int> order = NumpyRandom(words[0]).permutation(int(trained.size()));
  for (int& place : order) place = trained[std::size_t(place)];
  return order;
}

Status AdaptTraining::Impl::run_epoch(const AdaptProgress& progress) {
  const int epoch = int(curves.size());
  if (epoch == 0 && next_step == 0 && settings.head_start == HeadStart::means) {
    ENGRAM_TRY(start_head());
  }
  const std::vector<int> order = order_of(epoch);
  while (next_step < steps()) {
    const double start = seconds_now();
    const std::size_t first = std::size_t(next_step) * std::size_t(settings.batch);
    const std::size_t most = std::min(order.size() - first, std::size_t(settings.batch));
    double loss = 0;
    ENGRAM_TRY(step(std::span(order).subspan(first, most), loss));
    if (epoch == 0 && next_step == 0) first_loss = loss;
    ENGRAM_TRY(check_loss(loss, kStepLimit * (first_loss + 1)));
    ++next_step;
    const double took = seconds_now() - start;
    seconds += took;
    const AdaptStep done{epoch, next_step, steps(), loss, mean_loss(sums), percent(sums), took};
    DeviceHold::let_others();
    if (progress && !progress(done)) return {};
  }
  return end_epoch();
}

Status AdaptTraining::Impl::end_epoch() {
  const double start = seconds_now();
  ENGRAM_TRY(check_loss(mean_loss(sums), kEpochLimit * (first_loss + 1)));
  ENGRAM_TRY(check_parameters());
  HeadResult held_out;
  ENGRAM_TRY(watch(held_out));
  const double took = seconds_now() - start;
  curves.push_back(
      {mean_loss(sums), percent(sums), mean_loss(held_out), percent(held_out), seconds + took});
  keep_good();
  forget_epoch();
  return {};
}

void AdaptTraining::Impl::forget_epoch() {
  next_step = 0;
  sums = {};
  seconds = 0;
}

Status AdaptTraining::features(MatrixView<const float> pictures, MatrixView<float> features) {
  Impl& impl = *impl_;
  ENGRAM_CHECK(pictures.rows == features.rows && pictures.cols == impl.buffers.picture_size);
  const DeviceHold hold;
  for (int first = 0; first < pictures.rows; first += impl.settings.micro_batch) {
    const int count = std::min(impl.settings.micro_batch, pictures.rows - first);
    ENGRAM_TRY(impl.network.forward(pictures.row_range(first, count), impl.adapt, {},
                                    features.row_range(first, count)));
  }
  return {};
}

}  // namespace engram
