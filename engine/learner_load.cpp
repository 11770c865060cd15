// Learner::load: a learner from what learner_save.cpp wrote (checked by saved_learner.cpp).
#include <cstring>
#include <new>

#include <fmt/format.h>

#include "engine/learner_impl.h"
#include "engine/saved_learner.h"
#include "platform/device_staging.h"

namespace engram {

Status Learner::Impl::restore_dense(const SavedLearner& saved) {
  if (statistics.form() == Form::factored) ENGRAM_TRY(move_to_dense());
  ENGRAM_TRY(statistics.prepare(labels_of(saved.classes)));
  statistics.restore_counts(counts_of(saved.classes));
  const GramView& gram = statistics.dense().gram();
  const std::byte* next = saved.gram.data();
  for (int r = 0; r < gram.size && !saved.gram.empty(); ++r) {
    std::memcpy(gram.row(r), next, sizeof(float) * std::size_t(r));
    std::memcpy(gram.diagonal + r, next + sizeof(float) * std::size_t(r), sizeof(float));
    next += sizeof(float) * std::size_t(r + 1);
  }
  if (!saved.sums.empty()) {
    std::memcpy(statistics.dense().sums().data, saved.sums.data(), saved.sums.size());
  }
  if (!saved.has_feature_sums) statistics.features().set_incomplete();
  if (!saved.feature_sums.empty()) {
    std::memcpy(statistics.features().sums().data, saved.feature_sums.data(),
                saved.feature_sums.size());
  }
  if (config.keep_features) {
    ENGRAM_TRY(statistics.restore_rows(saved.kept.rows.data(), saved.kept.classes, saved.kept_ids,
                                       saved.progress.sums_only));
  }
  ENGRAM_TRY(task.reserve(saved.samples.classes.size()));
  const std::size_t row_bytes = Projection::row_bytes(config);
  for (std::size_t i = 0; i < saved.ids.size(); ++i) {
    task.append(saved.samples.rows.data() + i * row_bytes, {}, {&saved.samples.classes[i], 1},
                saved.ids[i]);
  }
  statistics.restore(saved.progress.exact_until, saved.progress.next_id);
  return {};
}

Status Learner::Impl::restore_factored(const SavedLearner& saved) {
  const std::size_t row_bytes = Projection::row_bytes(config);
  const std::size_t count = saved.samples.classes.size(), at_once = std::size_t(scratch.h.rows);
  ENGRAM_TRY(statistics.prepare(labels_of(saved.classes)));
  ENGRAM_TRY(statistics.factored().reserve(int(count)));
  for (std::size_t first = 0; first < count;) {
    // As far as numbers follow each other.
    std::size_t size = 1;
    while (size < at_once && first + size < count &&
           saved.ids[first + size] == saved.ids[first] + std::int64_t(size)) {
      ++size;
    }
    const std::byte* rows = saved.samples.rows.data() + first * row_bytes;
    const MatrixView<float> h = scratch.h.row_range(0, int(size));
    if (saved.hidden.empty()) {
      ENGRAM_TRY(projection->from_rows(rows, scratch, h));
    } else {
      const std::size_t row = sizeof(float) * std::size_t(h.cols);
      std::memcpy(h.data, saved.hidden.data() + first * row, size * row);
    }
    statistics.restore(0, saved.ids[first]);
    ENGRAM_TRY(statistics.add(rows, h, std::span(saved.samples.classes).subspan(first, size)));
    first += size;
  }
  statistics.restore(saved.progress.exact_until, saved.progress.next_id);
  return {};
}

Result<Learner> Learner::load(const SnapshotReader& reader, const Kernels& kernels) {
  const DeviceHold hold;
  try {
    ENGRAM_ASSIGN(const SavedLearner saved, parse_learner(reader));
    ENGRAM_ASSIGN(Learner learner, Learner::create(saved.config, kernels));
    Impl& impl = *learner.impl_;
    ENGRAM_TRY(saved.progress.form == Form::dense ? impl.restore_dense(saved)
                                                  : impl.restore_factored(saved));
    impl.tasks = int(saved.progress.tasks);
    impl.task_samples = saved.progress.task_samples;
    impl.closed_ids = saved.progress.closed_ids;
    if (saved.readout != nullptr) ENGRAM_TRY(impl.publish(saved.readout));
    return learner;
  } catch (const std::bad_alloc&) {
    return Status(Code::out_of_memory,
                  fmt::format("{}: the machine has no memory left to load it. The file was not "
                              "changed.",
                              reader.path()));
  }
}

}  // namespace engram
