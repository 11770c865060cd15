// Statistics of something else than was learned: without what was taken back, named otherwise, added
// up.
#include <algorithm>

#include "engine/exact_sums.h"
#include "engine/statistics.h"

namespace engram {

bool Statistics::may_have_rounded() const {
  if (factored_) return false;
  if (config_.arithmetic != Arithmetic::exact) return samples_ > 0;
  return largest_diagonal() >= kLargestExact;
}

Status Statistics::take_back(const std::byte* rows, MatrixView<const float> h,
                             std::span<const std::int32_t> classes) {
  ENGRAM_TRY(dense_->add(h, classes, -1.0f));
  features_.add(rows, classes, -1.0);
  for (const std::int32_t index : classes) classes_.count(index, -1);
  samples_ -= h.rows;
  watch_rounding(exact_until_);
  return {};
}

Status Statistics::move(const std::byte* rows, MatrixView<const float> h,
                        std::span<const std::int32_t> classes, int to) {
  ENGRAM_TRY(dense_->move(h, classes, to));
  features_.move(rows, classes, to);
  for (const std::int32_t index : classes) classes_.count(index, -1);
  classes_.count(to, h.rows);
  return {};
}

void Statistics::take_back(std::span<const int> kept) {
  const KeptSamples& samples = factored_->kept();
  for (const int n : kept) {
    features_.add(samples.row(n), samples.classes().subspan(std::size_t(n), 1), -1.0);
    classes_.count(samples.classes()[std::size_t(n)], -1);
  }
  samples_ -= std::ssize(kept);
  factored_->remove(kept);
  watch_rounding(exact_until_);
}

void Statistics::move(std::span<const int> kept, int to) {
  const KeptSamples& samples = factored_->kept();
  for (const int n : kept) {
    features_.move(samples.row(n), samples.classes().subspan(std::size_t(n), 1), to);
    classes_.count(samples.classes()[std::size_t(n)], -1);
    factored_->relabel(n, to);
  }
  classes_.count(to, std::ssize(kept));
}

void Statistics::drop_rows(std::span<const int> kept) {
  if (rows_) rows_->remove(kept);
}

void Statistics::relabel_rows(std::span<const int> kept, int to) {
  for (const int n : kept) rows_->relabel(n, to);
}

void Statistics::unite(int from, int to) {
  std::vector<std::int32_t> same(std::size_t(classes_.size()));
  for (int k = 0; k < classes_.size(); ++k) same[std::size_t(k)] = k == from ? to : k;
  if (factored_) {
    factored_->renumber_classes(same);
  } else {
    const MatrixView<float> sums = dense_->sums();
    for (int m = 0; m < sums.cols; ++m) {
      sums(to, m) += sums(from, m);
      sums(from, m) = 0;
    }
    if (rows_) rows_->renumber_classes(same);
  }
  features_.unite(from, to);
  const std::int64_t moved = classes_.all()[std::size_t(from)].samples;
  classes_.count(to, moved);
  classes_.count(from, -moved);
}

std::vector<std::int32_t> Statistics::drop_empty_classes() {
  const std::vector<std::int32_t> new_index = classes_.drop_empty();
  features_.renumber_classes(new_index, classes_.size());
  if (samples_ == 0) features_.clear();  // float sums leave crumbs
  if (factored_) {
    factored_->renumber_classes(new_index);
  } else if (samples_ == 0) {
    dense_->clear();
    watch_rounding(0);
  } else {
    dense_->renumber_classes(new_index, classes_.size());
  }
  if (rows_) rows_->renumber_classes(new_index);
  return new_index;
}

Status Statistics::absorb(const Statistics& other) {
  ENGRAM_CHECK(dense_ && other.dense_ && other.hidden_units() == hidden_units());
  const std::int64_t exact_before = std::min(exact_until_, other.exact_until_);
  const int with_rows = other.rows_ ? other.rows_->size() : 0;
  if (rows_) ENGRAM_TRY(rows_->reserve(std::size_t(rows_->size() + with_rows)));
  ENGRAM_TRY(prepare(labels_of(other.classes_.all())));
  std::vector<std::int32_t> index;
  for (const ClassInfo& info : other.classes_.all()) {
    index.push_back(classes_.find(info.label));
    classes_.count(index.back(), info.samples);
  }
  dense_->absorb(*other.dense_, index);
  features_.absorb(other.features_, index);
  if (rows_) {
    const std::int64_t without = other.samples_ - with_rows;
    if (without > 0) sums_only_ = next_id_ + without - 1;
    for (int n = 0; n < with_rows; ++n) {
      const std::int32_t own = index[std::size_t(other.rows_->classes()[std::size_t(n)])];
      rows_->append(other.rows_->row(n), {}, {&own, 1}, next_id_ + without + n);
    }
  }
  samples_ += other.samples_;
  next_id_ += other.samples_;
  watch_rounding(exact_before);
  return {};
}

}  // namespace engram
