#include "engine/statistics.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "platform/hash.h"

namespace engram {
namespace {

constexpr std::int64_t kLargestExact = std::int64_t{1} << 24;  // every whole number up to it
constexpr int kFirstClassRows = 8;

std::span<const std::byte> bytes_of(const float* values, std::size_t count) {
  return std::as_bytes(std::span(values, count));
}

double norm(const std::vector<float>& vector) {
  double sum = 0;
  for (const float value : vector) sum += double(value) * value;
  return std::sqrt(sum);
}

// y = G x from the lower triangle and the diagonal. The factor above is not read: it may be rubbish.
void multiply(const GramView& g, const std::vector<float>& x, std::vector<float>& y) {
  constexpr int kLanes = 16;  // sums that the compiler may keep apart in vector registers
  for (int r = 0; r < g.size; ++r) y[r] = g.diagonal[r] * x[r];
  for (int r = 0; r < g.size; ++r) {
    const float* row = g.row(r);
    const float xr = x[r];
    float sums[kLanes] = {};
    int c = 0;
    for (; c + kLanes <= r; c += kLanes) {
      for (int i = 0; i < kLanes; ++i) {
        sums[i] += row[c + i] * x[c + i];
        y[c + i] += row[c + i] * xr;
      }
    }
    for (; c < r; ++c) {
      sums[0] += row[c] * x[c];
      y[c] += row[c] * xr;
    }
    y[r] += std::accumulate(sums, sums + kLanes, 0.0f);
  }
}

}  // namespace

Statistics::Statistics(int hidden_units, int hidden_max, const Kernels& kernels, Arena& arena)
    : kernels_(kernels), hidden_max_(hidden_max) {
  const auto m = static_cast<std::size_t>(hidden_units);
  gram_ = {arena.take<float>(m * m), arena.take<float>(m), hidden_units, hidden_units};
  watch_rounding(0);
}

int Statistics::find_class(const std::string& label) const {
  const auto found = index_.find(label);
  return found == index_.end() ? -1 : found->second;
}

Status Statistics::reserve_classes(int more) {
  const int wanted = int(classes_.size()) + more;
  if (wanted <= class_capacity_) return {};
  const int rows = int(std::bit_ceil(unsigned(std::max(wanted, kFirstClassRows))));
  ENGRAM_TRY(sums_.reserve(sizeof(float) * std::size_t(rows) * std::size_t(gram_.size)));
  classes_.reserve(std::size_t(rows));
  index_.reserve(std::size_t(rows));
  class_capacity_ = rows;
  return {};
}

int Statistics::add_class(const std::string& label, std::int64_t samples) {
  const int added = int(classes_.size());
  ENGRAM_CHECK(added < class_capacity_);
  classes_.push_back({label, samples});
  index_.emplace(label, added);
  samples_ += samples;
  sums_.resize(sizeof(float) * classes_.size() * std::size_t(gram_.size));
  return added;
}

Status Statistics::add(MatrixView<const float> h, std::span<const std::int32_t> classes) {
  ENGRAM_CHECK(h.cols == gram_.size && std::size_t(h.rows) == classes.size());
  ENGRAM_TRY(kernels_.gram_update(Stream{}, h, 1.0f, gram_));
  ENGRAM_TRY(kernels_.class_sums(Stream{}, h, {classes.data(), 1, h.rows, h.rows}, 1.0f, sums()));
  for (const std::int32_t index : classes) ++classes_[std::size_t(index)].samples;
  samples_ += h.rows;
  watch_rounding(exact_until_);
  return {};
}

MatrixView<float> Statistics::sums() const {
  return {sums_.as<float>(), int(classes_.size()), gram_.size, gram_.size};
}

double Statistics::trace() const {
  return std::accumulate(gram_.diagonal, gram_.diagonal + gram_.size, 0.0);
}

double Statistics::largest_eigenvalue() const {
  constexpr int kSteps = 12;
  constexpr double kCloseEnough = 0.01;
  std::vector<float> x(std::size_t(gram_.size)), y(x.size());
  for (int k = 0; k < sums().rows; ++k) {
    for (int m = 0; m < gram_.size; ++m) x[m] += sums()(k, m);
  }
  // The diagonal joins in: where classes cancel out (h of both signs) the sum alone may be nothing.
  const double length = norm(x), root = std::sqrt(trace());
  for (int m = 0; m < gram_.size; ++m) {
    x[m] = float((length > 0 ? x[m] / length : 0.0) +
                 (root > 0 ? 0.1 * std::sqrt(gram_.diagonal[m]) / root : 0.0));
  }
  double value = 0;
  for (int step = 0; step < kSteps; ++step) {
    const double scale = norm(x);
    if (!(scale > 0)) return value;  // nothing was learned, or only zeros
    for (float& entry : x) entry = float(entry / scale);
    multiply(gram_, x, y);
    const double grown = norm(y);
    std::swap(x, y);
    if (std::abs(grown - value) <= kCloseEnough * grown) return grown;
    value = grown;
  }
  return value;
}

void Statistics::watch_rounding(std::int64_t stored) {
  if (hidden_max_ == 0) return;
  const auto largest = std::int64_t(*std::max_element(gram_.diagonal, gram_.diagonal + gram_.size));
  const std::int64_t step = std::int64_t{hidden_max_} * hidden_max_;
  // At 2^24 a sum may have rounded already: what was said before it came there still holds.
  exact_until_ = largest >= kLargestExact ? stored : samples_ + (kLargestExact - largest) / step;
}

std::string Statistics::digest(const std::string& config) const {
  std::vector<int> order(classes_.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return classes_[a].label < classes_[b].label; });
  std::string text = config;
  for (const int k : order) {
    const ClassInfo& info = classes_[std::size_t(k)];
    const std::uint64_t sum = checksum64(bytes_of(sums().row(k), std::size_t(gram_.size)));
    text += fmt::format("\n{}:{} {} {:016x}", info.label.size(), info.label, info.samples, sum);
  }
  Checksum64 gram;
  for (int r = 1; r < gram_.size; ++r) gram.add(bytes_of(gram_.row(r), std::size_t(r)));
  gram.add(bytes_of(gram_.diagonal, std::size_t(gram_.size)));
  text += fmt::format("\n{:016x}", gram.value());
  return sha256_hex(std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace engram
