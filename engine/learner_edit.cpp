// Learner: taking back, naming otherwise, adding up. Exact: what is left is, to the bit, what a learner
// holds that never saw the samples, or heard the other name at once.
#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <unordered_map>

#include <fmt/format.h>

#include "engine/exact_sums.h"
#include "engine/label.h"
#include "engine/learner_impl.h"

namespace engram {
namespace {

Status not_learned(const std::string& what) {
  return Status(Code::invalid_argument, fmt::format("{}. Nothing was changed.", what));
}

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

// Of ids that ascend: where they are in `all`, which ascends too.
std::vector<int> places_of(std::span<const std::int64_t> ids, std::span<const std::int64_t> all) {
  std::vector<int> places;
  for (const std::int64_t id : ids) {
    const auto at = std::lower_bound(all.begin(), all.end(), id);
    if (at != all.end() && *at == id) places.push_back(int(at - all.begin()));
  }
  return places;
}

}  // namespace

Status Learner::Impl::check_learned(const LearnedSamples& samples) const {
  if (samples.ids.empty() || samples.ids.size() != samples.batch.size()) {
    return not_learned(
        fmt::format("{} ids came with {} samples", samples.ids.size(), samples.batch.size()));
  }
  const auto descends = std::adjacent_find(samples.ids.begin(), samples.ids.end(),
                                           std::greater_equal<std::int64_t>());
  if (descends != samples.ids.end() || samples.ids.front() < 1 ||
      samples.ids.back() >= statistics.next_id()) {
    return not_learned(fmt::format("The ids {} to {} do not ascend, or are not among 1 to {}",
                                   samples.ids.front(), samples.ids.back(),
                                   statistics.next_id() - 1));
  }
  std::unordered_map<std::string, std::int64_t> counts;
  for (const std::string& label : samples.batch.labels) ++counts[label];
  for (const auto& [label, count] : counts) {
    const int index = statistics.classes().find(label);
    const std::int64_t known =
        index < 0 ? 0 : statistics.classes().all()[std::size_t(index)].samples;
    if (known < count) {
      return not_learned(
          fmt::format("The class {} has {} samples, and not {}", label, known, count));
    }
  }
  return {};
}

Result<std::vector<int>> Learner::Impl::find_kept(const LearnedSamples& samples) const {
  const KeptSamples& kept = statistics.factored().kept();
  std::vector<int> places = places_of(samples.ids, kept.ids());
  bool same = places.size() == samples.size();
  for (std::size_t i = 0; same && i < places.size(); ++i) {
    const int label = statistics.classes().find(samples.batch.labels[i]);
    const std::byte* row = samples.batch.rows.data() + i * kept.row_bytes();
    same = kept.classes()[std::size_t(places[i])] == label &&
           std::memcmp(kept.row(places[i]), row, kept.row_bytes()) == 0;
  }
  if (!same) return not_learned("These are not samples that were learned under these ids");
  return places;
}

Result<MatrixView<const float>> Learner::Impl::project(const SampleBatch& batch, std::size_t first,
                                                       std::size_t count) {
  const MatrixView<float> h = scratch.h.row_range(0, int(count));
  ENGRAM_TRY(
      projection->from_rows(batch.rows.data() + first * projection->row_bytes(), scratch, h));
  for (std::size_t b = 0; b < count; ++b) {
    batch_classes[b] = statistics.classes().find(batch.labels[first + b]);
  }
  return MatrixView<const float>(h);
}

Status Learner::Impl::take_back_sums(const LearnedSamples& samples) {
  if (config.arithmetic == Arithmetic::exact && statistics.may_have_rounded()) {
    return Status(Code::not_supported,
                  fmt::format("A sum has reached 2^24 and may have rounded (sums were surely exact "
                              "until {} samples), so no sample can be taken back exactly. Nothing "
                              "was changed.",
                              statistics.exact_until()));
  }
  const auto at_once = std::size_t(scratch.h.rows);
  for (std::size_t first = 0; first < samples.size(); first += at_once) {
    const std::size_t count = std::min(at_once, samples.size() - first);
    ENGRAM_ASSIGN(const MatrixView<const float> h, project(samples.batch, first, count));
    ENGRAM_TRY(statistics.take_back(h, {batch_classes, count}));
  }
  task.remove(places_of(samples.ids, task.ids()));
  return {};
}

Status Learner::Impl::move_sums(const LearnedSamples& samples, int to) {
  const auto at_once = std::size_t(scratch.h.rows);
  for (std::size_t first = 0; first < samples.size(); first += at_once) {
    const std::size_t count = std::min(at_once, samples.size() - first);
    ENGRAM_ASSIGN(const MatrixView<const float> h, project(samples.batch, first, count));
    ENGRAM_TRY(statistics.move(h, {batch_classes, count}, to));
  }
  for (const int place : places_of(samples.ids, task.ids())) task.relabel(place, to);
  return {};
}

void Learner::Impl::drop_empty_classes() {
  const std::vector<std::int32_t> new_index = statistics.drop_empty_classes();
  for (int i = 0; i < task.size(); ++i) {
    task.relabel(i, new_index[std::size_t(task.classes()[std::size_t(i)])]);
  }
}

Status Learner::unlearn(const LearnedSamples& samples) {
  Impl& impl = *impl_;
  ENGRAM_TRY(check(samples.batch));
  ENGRAM_TRY(impl.check_learned(samples));
  impl.forget_factor();
  if (form() == Form::factored) {
    ENGRAM_ASSIGN(const std::vector<int> places, impl.find_kept(samples));
    impl.statistics.take_back(places);
  } else {
    ENGRAM_TRY(impl.take_back_sums(samples));
  }
  impl.task_samples -= count_above(samples.ids, impl.closed_ids);
  impl.drop_empty_classes();
  return {};
}

Status Learner::relabel(const LearnedSamples& samples, const std::string& label) {
  Impl& impl = *impl_;
  Statistics& statistics = impl.statistics;
  ENGRAM_TRY(check(samples.batch));
  ENGRAM_TRY(impl.check_learned(samples));
  ENGRAM_TRY(check_label(label));
  const std::vector<std::string>& labels = samples.batch.labels;
  if (std::find(labels.begin(), labels.end(), label) != labels.end()) {
    return not_learned(fmt::format("A sample has the label {} already", label));
  }
  std::vector<int> places;
  if (form() == Form::factored) {
    ENGRAM_ASSIGN(places, impl.find_kept(samples));
  } else {
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
  }
  impl.drop_empty_classes();
  return {};
}

Status Learner::rename(const std::string& from, const std::string& to) {
  Statistics& statistics = impl_->statistics;
  const ClassList& classes = statistics.classes();
  const int old_class = classes.find(from), new_class = classes.find(to);
  if (old_class < 0) return not_learned(fmt::format("There is no class {}", from));
  if (from == to) return not_learned(fmt::format("The class {} has this name already", from));
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
  LearnedSamples samples;
  if (form() == Form::dense) return samples;
  const KeptSamples& kept = impl_->statistics.factored().kept();
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

Status Learner::absorb(const Learner& other) {
  if (other.form() == Form::factored) {
    if (other.samples() > 0) ENGRAM_TRY(learn(other.kept_samples().batch));
  } else {
    impl_->forget_factor();
    ENGRAM_TRY(impl_->statistics.absorb(other.impl_->statistics));
    impl_->task_samples += other.samples();
  }
  impl_->tasks += other.tasks();
  return {};
}

Status Learner::adopt(std::shared_ptr<const Readout> readout) {
  return impl_->publish(std::move(readout));
}

}  // namespace engram
