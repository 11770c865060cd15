#include "engine/statistics.h"

#include <algorithm>
#include <new>

#include "engine/exact_sums.h"
#include "engine/gram_spectrum.h"

namespace engram {

Statistics::Statistics(const LearnerConfig& config, const Kernels& kernels, Arena& arena)
    : config_(config), kernels_(&kernels), features_(config) {
  if (factored_limit(config) > 0) {
    factored_.emplace(config, kernels);
  } else {
    dense_.emplace(config.hidden_units(), kernels, arena);
    if (config.keep_features) rows_.emplace(config, /*with_hidden=*/false);
  }
  watch_rounding(0);
}

Status Statistics::prepare(std::span<const std::string> labels) {
  try {
    const int classes = classes_.size() + classes_.count_new(labels);
    ENGRAM_TRY(features_.reserve_classes(classes));
    if (factored_) {
      ENGRAM_TRY(factored_->reserve(factored_->kept().size() + int(labels.size())));
    } else {
      ENGRAM_TRY(dense_->reserve_classes(classes));
      if (rows_) ENGRAM_TRY(rows_->reserve(std::size_t(rows_->size()) + labels.size()));
    }
    ENGRAM_TRY(classes_.add(labels));
    features_.set_classes(classes);
    if (dense_) dense_->set_classes(classes);
    return {};
  } catch (const std::bad_alloc&) {
    return Status(Code::out_of_memory,
                  "The machine has no memory left to learn. Nothing was changed; close other "
                  "programs and learn it again.");
  }
}

Status Statistics::add(const std::byte* rows, MatrixView<const float> h,
                       std::span<const std::int32_t> classes) {
  if (factored_) {
    ENGRAM_TRY(factored_->add(rows, h, classes, next_id_));
  } else {
    ENGRAM_TRY(dense_->add(h, classes));
    if (rows_) rows_->append(rows, h, classes, next_id_);
  }
  features_.add(rows, classes);
  for (const std::int32_t index : classes) classes_.count(index, 1);
  samples_ += h.rows;
  next_id_ += h.rows;
  watch_rounding(exact_until_);
  return {};
}

Status Statistics::move_to_dense(MatrixView<float> scratch) {
  ENGRAM_CHECK(factored_.has_value());
  const KeptSamples& kept = factored_->kept();
  KeptSamples rows(config_, /*with_hidden=*/false);
  ENGRAM_TRY(rows.reserve(std::size_t(kept.size())));
  for (int n = 0; n < kept.size(); ++n) {
    rows.append(kept.row(n), {}, kept.classes().subspan(std::size_t(n), 1),
                kept.ids()[std::size_t(n)]);
  }
  factored_->drop_kernel();
  if (const Status status = make_dense(scratch); !status.ok()) {
    (void)complete();  // else whoever needs it tries again
    return status;
  }
  rows_.emplace(std::move(rows));
  factored_.reset();
  return {};
}

Status Statistics::make_dense(MatrixView<float> scratch) {
  const int units = config_.hidden_units();
  ENGRAM_ASSIGN(Arena memory, Arena::create(DenseStatistics::arena_bytes(units)));
  DenseStatistics dense(units, *kernels_, memory);
  ENGRAM_TRY(dense.reserve_classes(classes_.size()));
  dense.set_classes(classes_.size());
  ENGRAM_TRY(factored_->add_to(dense, scratch));
  dense_memory_ = std::move(memory);
  dense_.emplace(std::move(dense));
  return {};
}

Status Statistics::complete() {
  return factored_ ? factored_->make_kernel() : Status();
}

const KeptSamples* Statistics::kept() const {
  if (factored_) return &factored_->kept();
  return rows_ ? &*rows_ : nullptr;
}

std::int64_t Statistics::sums_only() const {
  if (!dense_) return 0;
  if (!rows_) return next_id_ - 1;
  return rows_->size() == samples_ ? 0 : sums_only_;
}

float Statistics::gram(int row, int col) const {
  return dense_ ? dense_->gram().gram(row, col) : float(factored_->gram(row, col));
}

float Statistics::class_sum(int class_index, int unit) const {
  return dense_ ? dense_->sums()(class_index, unit)
                : float(factored_->class_sum(class_index, unit));
}

double Statistics::trace() const {
  return engram::trace(dense_ ? dense_->gram() : factored_->kernel().view());
}

double Statistics::largest_eigenvalue() const {
  if (dense_) return engram::largest_eigenvalue(dense_->gram(), dense_->sum_of_all());
  const GramView kernel = factored_->kernel().view();
  return engram::largest_eigenvalue(kernel, std::vector<float>(std::size_t(kernel.size), 1.0f));
}

void Statistics::restore_counts(std::span<const std::int64_t> samples) {
  ENGRAM_CHECK(samples.size() == std::size_t(classes_.size()));
  for (int k = 0; k < classes_.size(); ++k) {
    classes_.count(k, samples[std::size_t(k)]);
    samples_ += samples[std::size_t(k)];
  }
}

void Statistics::restore(std::int64_t exact_until, std::int64_t next_id) {
  next_id_ = next_id;
  watch_rounding(exact_until);
}

Status Statistics::restore_rows(const std::byte* rows, std::span<const std::int32_t> classes,
                                std::span<const std::int64_t> ids, std::int64_t sums_only) {
  ENGRAM_CHECK(rows_.has_value() && classes.size() == ids.size());
  ENGRAM_TRY(rows_->reserve(ids.size()));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    rows_->append(rows + i * rows_->row_bytes(), {}, classes.subspan(i, 1), ids[i]);
  }
  sums_only_ = sums_only;
  return {};
}

std::int64_t Statistics::largest_diagonal() const {
  if (factored_) return std::int64_t(factored_->largest_diagonal());
  const GramView& g = dense_->gram();
  return std::int64_t(*std::max_element(g.diagonal, g.diagonal + g.size));
}

void Statistics::watch_rounding(std::int64_t stored) {
  if (config_.arithmetic != Arithmetic::exact) return;
  const std::int64_t largest = largest_diagonal();
  const std::int64_t step = std::int64_t{config_.hidden_max} * config_.hidden_max;
  // At 2^24 a sum may have rounded already: what was said before it came there still holds.
  exact_until_ = largest >= kLargestExact ? stored : samples_ + (kLargestExact - largest) / step;
}

}  // namespace engram
