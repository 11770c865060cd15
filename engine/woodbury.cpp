#include "engine/woodbury.h"

#include <algorithm>

#include "kernels/kernels.h"

namespace engram {

void Woodbury::clear() {
  *this = Woodbury(*kernels_, units_);
}

GramView Woodbury::small() const {
  return {small_.data(), small_diagonal_.data(), pending(), capacity_};
}

// Room for `size` rows; both triangles move.
void Woodbury::reserve_small(int size) {
  if (size <= capacity_) return;
  const int capacity = std::max(size, 2 * capacity_);
  std::vector<float> data(std::size_t(capacity) * std::size_t(capacity));
  for (int r = 0; r < pending(); ++r) {
    std::copy_n(small().row(r), pending(), data.data() + std::ptrdiff_t{capacity} * r);
  }
  small_diagonal_.resize(std::size_t(capacity));
  small_.swap(data);
  capacity_ = capacity;
}

Status Woodbury::add(GramView gram, MatrixView<const float> h,
                     std::span<const std::int32_t> classes) {
  ENGRAM_CHECK(gram.size == units_ && h.cols == units_ && std::size_t(h.rows) == classes.size());
  const int before = pending();
  const auto units = std::size_t(units_);
  const auto give_back = [&] {
    classes_.resize(std::size_t(before));
    hidden_.resize(std::size_t(before) * units);
    solved_.resize(std::size_t(before) * units);
  };
  try {
    const Status status = extend(gram, h, classes);
    if (!status.ok()) give_back();
    return status;
  } catch (...) {
    give_back();
    throw;
  }
}

// A failure, or memory that runs out, may leave rows that are not whole.
Status Woodbury::extend(GramView gram, MatrixView<const float> h,
                        std::span<const std::int32_t> classes) {
  const int before = pending(), after = before + h.rows;
  reserve_small(after);
  for (int b = 0; b < h.rows; ++b) {
    hidden_.insert(hidden_.end(), h.row(b), h.row(b) + units_);
    solved_.insert(solved_.end(), h.row(b), h.row(b) + units_);
  }
  classes_.insert(classes_.end(), classes.begin(), classes.end());

  const MatrixView<float> all{solved_.data(), after, units_, units_};
  const MatrixView<float> rows{small_.data() + std::ptrdiff_t{capacity_} * before, h.rows, after,
                               capacity_};
  ENGRAM_TRY(kernels_->cholesky_solve(Stream{}, gram, all.row_range(before, h.rows)));
  // The new rows of Hp VT, all columns: what is right of the diagonal is scratch until the factor.
  ENGRAM_TRY(kernels_->score(Stream{}, h, all, rows));
  for (int b = 0; b < h.rows; ++b) small_diagonal_[std::size_t(before + b)] = rows(b, before + b);
  return kernels_->factor_append(Stream{}, 1.0f, before, small());
}

Status Woodbury::solve(MatrixView<const float> base, MatrixView<float> readout) const {
  const int count = pending();
  ENGRAM_CHECK(base.cols == units_ && readout.cols == units_ && readout.rows >= base.rows);
  for (int k = 0; k < readout.rows; ++k) {
    if (k < base.rows) {
      std::copy_n(base.row(k), units_, readout.row(k));
    } else {
      std::fill_n(readout.row(k), units_, 0.0f);
    }
  }
  if (count == 0) return {};
  // Errors of the base readout, then turned: a right-hand side per class.
  std::vector<float> scores(std::size_t(count) * std::size_t(readout.rows)), turned(scores.size());
  const MatrixView<float> s{scores.data(), count, readout.rows, readout.rows};
  const MatrixView<float> e{turned.data(), readout.rows, count, count};
  ENGRAM_TRY(kernels_->score(Stream{}, {hidden_.data(), count, units_, units_}, readout, s));
  for (int k = 0; k < readout.rows; ++k) {
    for (int i = 0; i < count; ++i) e(k, i) = float(classes_[std::size_t(i)] == k) - s(i, k);
  }
  ENGRAM_TRY(kernels_->cholesky_solve(Stream{}, small(), e));
  return kernels_->combine_rows(Stream{}, e, {nullptr, solved_.data(), count, units_}, readout);
}

}  // namespace engram
