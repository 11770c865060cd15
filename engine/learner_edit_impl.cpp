// The parts of editing: are these our samples, where are they, and out of the sums or into others.
#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <unordered_map>

#include <fmt/format.h>

#include "engine/learner_impl.h"

namespace engram {
namespace {

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

Status Learner::Impl::not_learned(const std::string& what) {
  return Status(Code::invalid_argument, fmt::format("{}. Nothing was changed.", what));
}

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
  std::vector<int> places;
  if (statistics.kept() == nullptr) return places;
  const KeptSamples& kept = *statistics.kept();
  // Of each class: the samples that are in the sums alone.
  std::vector<std::int64_t> without = counts_of(statistics.classes().all());
  for (const std::int32_t index : kept.classes()) --without[std::size_t(index)];
  bool same = true;
  for (std::size_t i = 0; same && i < samples.size(); ++i) {
    const int label = statistics.classes().find(samples.batch.labels[i]);
    const auto at = std::lower_bound(kept.ids().begin(), kept.ids().end(), samples.ids[i]);
    if (at == kept.ids().end() || *at != samples.ids[i]) {
      same = samples.ids[i] <= statistics.sums_only() && --without[std::size_t(label)] >= 0;
      continue;
    }
    places.push_back(int(at - kept.ids().begin()));
    const std::byte* row = samples.batch.rows.data() + i * kept.row_bytes();
    same = kept.classes()[std::size_t(places.back())] == label &&
           std::memcmp(kept.row(places.back()), row, kept.row_bytes()) == 0;
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
    const std::byte* rows = samples.batch.rows.data() + first * projection->row_bytes();
    ENGRAM_TRY(statistics.take_back(rows, h, {batch_classes, count}));
  }
  task.remove(places_of(samples.ids, task.ids()));
  return {};
}

Status Learner::Impl::move_sums(const LearnedSamples& samples, int to) {
  const auto at_once = std::size_t(scratch.h.rows);
  for (std::size_t first = 0; first < samples.size(); first += at_once) {
    const std::size_t count = std::min(at_once, samples.size() - first);
    ENGRAM_ASSIGN(const MatrixView<const float> h, project(samples.batch, first, count));
    const std::byte* rows = samples.batch.rows.data() + first * projection->row_bytes();
    ENGRAM_TRY(statistics.move(rows, h, {batch_classes, count}, to));
  }
  for (const int place : places_of(samples.ids, task.ids())) task.relabel(place, to);
  return {};
}

void Learner::Impl::drop_empty_classes() {
  witnesses.clear();  // some may be gone or have another class
  const std::vector<std::int32_t> new_index = statistics.drop_empty_classes();
  task.renumber_classes(new_index);
}

}  // namespace engram
