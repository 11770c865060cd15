// Learner: taking back, naming otherwise, adding up. Exact: what is left is, to the bit, what a learner
// holds that never saw the samples, or heard the other name at once.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "engine/exact_sums.h"
#include "engine/label.h"
#include "engine/learner_impl.h"
#include "platform/device_staging.h"

namespace engram {
namespace {

std::int64_t count_above(std::span<const std::int64_t> ids, std::int64_t limit) {
  return ids.end() - std::upper_bound(ids.begin(), ids.end(), limit);
}

// C holds sums of at most hidden_max a sample: below 2^24 they are exact in any order.
Status check_sum(const LearnerConfig& config, const std::string& label, std::int64_t samples) {
  if (config.arithmetic != Arithmetic::exact) return {};
  const std::int64_t most = kLargestExact / config.hidden_max;
  if (samples <= most) return {};
  return Status(Code::not_supported,
                fmt::format("The class {} would have {} samples; sums of more than {} may round, "
                            "and what they were made of could not be told exactly. Nothing was "
                            "changed.",
                            label, samples, most));
}

}  // namespace

Status Learner::unlearn(const LearnedSamples& samples) {
  const DeviceHold hold;
  Impl& impl = *impl_;
  ENGRAM_TRY(check(samples.batch));
  ENGRAM_TRY(impl.check_learned(samples));
  ENGRAM_ASSIGN(const std::vector<int> places, impl.find_kept(samples));
  impl.forget_factor();
  if (form() == Form::factored) {
    impl.statistics.take_back(places);
  } else {
    ENGRAM_TRY(impl.take_back_sums(samples));
    impl.statistics.drop_rows(places);
  }
  impl.task_samples -= count_above(samples.ids, impl.closed_ids);
  impl.drop_empty_classes();
  return {};
}

Status Learner::relabel(const LearnedSamples& samples, const std::string& label) {
  const DeviceHold hold;
  Impl& impl = *impl_;
  Statistics& statistics = impl.statistics;
  ENGRAM_TRY(check(samples.batch));
  ENGRAM_TRY(impl.check_learned(samples));
  ENGRAM_TRY(check_label(label));
  const std::vector<std::string>& labels = samples.batch.labels;
  if (std::find(labels.begin(), labels.end(), label) != labels.end()) {
    return Impl::not_learned(fmt::format("A sample has the label {} already", label));
  }
  ENGRAM_ASSIGN(const std::vector<int> places, impl.find_kept(samples));
  if (form() == Form::dense) {
    const int known = statistics.classes().find(label);
    const std::int64_t count =
        known < 0 ? 0 : statistics.classes().all()[std::size_t(known)].samples;
    ENGRAM_TRY(check_sum(impl.config, label, count + std::int64_t(samples.size())));
  }
  impl.forget_factor();
  ENGRAM_TRY(statistics.prepare(std::span(&label, 1)));
  const int to = statistics.classes().find(label);
  if (form() == Form::factored) {
    statistics.move(places, to);
  } else {
    ENGRAM_TRY(impl.move_sums(samples, to));
    statistics.relabel_rows(places, to);
  }
  impl.drop_empty_classes();
  return {};
}

Status Learner::rename(const std::string& from, const std::string& to) {
  const DeviceHold hold;
  Statistics& statistics = impl_->statistics;
  const ClassList& classes = statistics.classes();
  const int old_class = classes.find(from), new_class = classes.find(to);
  if (old_class < 0) return Impl::not_learned(fmt::format("There is no class {}", from));
  if (from == to) return Impl::not_learned(fmt::format("The class {} has this name already", from));
  ENGRAM_TRY(check_label(to));
  impl_->forget_factor();
  if (new_class < 0) {
    statistics.rename(old_class, to);
    return {};
  }
  if (form() == Form::dense) {
    ENGRAM_TRY(check_sum(impl_->config, to,
                         classes.all()[std::size_t(old_class)].samples +
                             classes.all()[std::size_t(new_class)].samples));
  }
  statistics.unite(old_class, new_class);
  KeptSamples& task = impl_->task;
  for (int i = 0; i < task.size(); ++i) {
    if (task.classes()[std::size_t(i)] == old_class) task.relabel(i, new_class);
  }
  impl_->drop_empty_classes();
  return {};
}

LearnedSamples Learner::kept_samples() const {
  const DeviceHold hold;
  LearnedSamples samples;
  if (impl_->statistics.kept() == nullptr) return samples;
  const KeptSamples& kept = *impl_->statistics.kept();
  samples.ids.assign(kept.ids().begin(), kept.ids().end());
  for (const std::int32_t index : kept.classes()) {
    samples.batch.labels.push_back(impl_->statistics.classes().all()[std::size_t(index)].label);
  }
  for (int block = 0; block < kept.blocks(); ++block) {
    const auto rows = kept.block_rows(block);
    samples.batch.rows.insert(samples.batch.rows.end(), rows.begin(), rows.end());
  }
  return samples;
}

std::span<const std::int64_t> Learner::kept_ids() const {
  const KeptSamples* kept = impl_->statistics.kept();
  return kept == nullptr ? std::span<const std::int64_t>() : kept->ids();
}

std::int64_t Learner::sums_only() const {
  return impl_->statistics.sums_only();
}

Status Learner::absorb(const Learner& other) {
  const DeviceHold hold;
  const bool empty = other.samples() == 0;  // then it must not make ours dense
  if (!empty && other.form() == Form::factored) {
    ENGRAM_TRY(learn(other.kept_samples().batch));
  } else if (!empty) {
    impl_->forget_factor();
    if (form() == Form::factored) ENGRAM_TRY(impl_->move_to_dense());
    ENGRAM_TRY(impl_->statistics.absorb(other.impl_->statistics));
    impl_->task_samples += other.samples();
  }
  impl_->tasks = int(std::min<std::int64_t>(INT32_MAX, std::int64_t{impl_->tasks} + other.tasks()));
  return {};
}

Status Learner::adopt(std::shared_ptr<const Readout> readout) {
  const DeviceHold hold;
  return impl_->publish(std::move(readout));
}

}  // namespace engram
