#include "engine/leave_one_out.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>

#include "engine/gcv.h"
#include "engine/gram_spectrum.h"
#include "engine/lambda_search.h"
#include "kernels/kernels.h"
#include "platform/finite.h"

namespace engram {
namespace {

constexpr double kSmallest = 1e-4;  // lambdas are tried from this part of the mean diagonal ...
constexpr double kLargest = 10.0;   // ... to this multiple of the trace
constexpr double kTypical = 0.1;    // where the best lambda of photos is, of the mean diagonal
constexpr double kTypicalCurvature = 5e-4;
constexpr double kUnseenInPart = 1e-3;

// A part of the samples, the same share of every class and one at least, evenly by the size of h
// within a class: which ones does not depend on the order in which they came. Ascending. With about as
// many classes as samples, the part may be all of them.
std::vector<int> even_sample(const LeaveOneOut& problem) {
  const std::span<const std::int32_t> classes = problem.classes();
  std::vector<int> order(classes.size()), chosen;
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    if (classes[std::size_t(a)] != classes[std::size_t(b)]) {
      return classes[std::size_t(a)] < classes[std::size_t(b)];
    }
    return problem.kernel().diagonal[a] < problem.kernel().diagonal[b];
  });
  const double share = double(LeaveOneOut::part_of(problem.kernel().size)) / double(order.size());
  for (std::size_t first = 0, last = 0; first < order.size(); first = last) {
    const std::int32_t own = classes[std::size_t(order[first])];
    while (last < order.size() && classes[std::size_t(order[last])] == own) ++last;
    const std::size_t size = last - first;
    const auto take = std::max<std::size_t>(std::size_t(std::lround(share * double(size))), 1);
    for (std::size_t i = 0; i < take; ++i) {
      chosen.push_back(order[first + (2 * i + 1) * size / (2 * take)]);
    }
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

struct Criterion {
  std::function<double(LeaveOneOut&, double)> loss;
  std::function<double(LeaveOneOut&)> slope;  // or none
  double more_curvature;                      // of all samples than of a part
  double unseen;  // of the loss: what a parabola may promise without being checked
};

// Where a search should begin, and how the loss bends there.
struct Start {
  int step;
  double curvature;
};

void search_from(const Start& start, const Criterion& criterion, double unseen,
                 LeaveOneOut& problem, LambdaSearch& search) {
  if (criterion.slope) {
    search.follow(start.step, start.curvature, unseen, [&] { return criterion.slope(problem); });
  } else {
    search.descend(start.step, start.curvature, unseen);
  }
}

LambdaSearch search_of(LeaveOneOut& problem, const Criterion& criterion) {
  const double total = trace(problem.kernel()), mean = total / problem.kernel().size;
  return {kSmallest * mean, kLargest * total,
          [&](double lambda) { return criterion.loss(problem, lambda); }};
}

// Where no smaller part of the samples shows the way.
Start typical_start(const LeaveOneOut& problem) {
  const double mean = trace(problem.kernel()) / problem.kernel().size;
  return {LambdaSearch::step_of(kTypical * mean), kTypicalCurvature};
}

// From a part of the samples, whose own search may begin with a part of them.
std::optional<Start> start_from_part(const LeaveOneOut& problem, const std::vector<int>& part,
                                     const Criterion& criterion) {
  const int size = int(part.size());
  std::vector<float> data(std::size_t(size) * std::size_t(size)), diagonal(part.size());
  std::vector<std::int32_t> classes;
  const GramView kernel{data.data(), diagonal.data(), size, size};
  for (int r = 0; r < size; ++r) {
    const int from = part[std::size_t(r)];
    for (int c = 0; c < r; ++c) kernel.row(r)[c] = problem.kernel().row(from)[part[std::size_t(c)]];
    kernel.diagonal[r] = problem.kernel().diagonal[from];
    classes.push_back(problem.classes()[std::size_t(from)]);
  }
  LeaveOneOut small(problem.kernels(), kernel, classes, problem.class_count());
  std::optional<Start> start;
  if (size >= LeaveOneOut::kManySamples) {
    const std::vector<int> fewer = even_sample(small);
    if (fewer.size() < part.size()) start = start_from_part(small, fewer, criterion);
  }
  if (!start) start = typical_start(small);
  LambdaSearch search = search_of(small, criterion);
  search_from(*start, criterion, kUnseenInPart, small, search);
  if (!search.found()) return std::nullopt;
  return Start{search.best(),
               criterion.more_curvature * search.curvature().value_or(start->curvature)};
}

LambdaChoice choose(LeaveOneOut& problem, const Criterion& criterion) {
  const int size = problem.kernel().size;
  if (size == 0) return without_choice(1.0, "Nothing was learned, so nothing can be left out");
  const double total = trace(problem.kernel()), mean = total / size;
  if (!std::isfinite(total)) {
    return without_choice(1.0, "The hidden units are too large for sums in float");
  }
  if (total <= 0) return without_choice(1.0, "All hidden units are zero");
  if (size == 1) {
    LambdaChoice choice = without_choice(mean, "One sample cannot be left out");
    choice.factored = problem.solve(choice.lambda);
    return choice;
  }

  LambdaSearch search = search_of(problem, criterion);
  std::optional<Start> start;
  double unseen = criterion.unseen;
  if (size > LeaveOneOut::kFewSamples) {
    const std::vector<int> part = even_sample(problem);
    if (int(part.size()) < size) {
      start = start_from_part(problem, part, criterion);
    } else {
      start = typical_start(problem);
      unseen = std::min(unseen, kUnseenInPart);  // how the loss bends is a guess
    }
  }
  start ? search_from(*start, criterion, unseen, problem, search) : search.sweep();
  if (!search.found()) {
    return without_choice(mean, "No lambda gave a Cholesky factor of the kernel in float");
  }
  LambdaChoice choice;
  search.report(choice);
  choice.factored = search.last() == search.best() || problem.solve(choice.lambda);
  return choice;
}

}  // namespace

LeaveOneOut::LeaveOneOut(const Kernels& kernels, GramView kernel,
                         std::span<const std::int32_t> classes, int class_count)
    : kernels_(kernels),
      kernel_(kernel),
      classes_(classes),
      class_count_(class_count),
      dual_(std::size_t(kernel.size) * std::size_t(class_count)),
      inverse_(std::size_t(kernel.size)),
      scratch_(std::size_t(kernel.size) * kScratchColumns) {
  ENGRAM_CHECK(std::size_t(kernel.size) == classes.size());
}

bool LeaveOneOut::solve(double lambda) {
  const int n = kernel_.size;
  lambda_ = lambda;
  const MatrixView<float> dual{dual_.data(), class_count_, n, n};
  if (n == 0 || !kernels_.cholesky(Stream{}, float(lambda), {}, kernel_).ok()) return false;
  std::fill(dual_.begin(), dual_.end(), 0.0f);
  for (int i = 0; i < n; ++i) dual(classes_[std::size_t(i)], i) = 1.0f;
  return kernels_.cholesky_solve(Stream{}, kernel_, dual).ok() && are_finite(dual_);
}

double LeaveOneOut::loss(double lambda) {
  const int n = kernel_.size;
  if (!solve(lambda) ||
      !kernels_
           .inverse_diagonal(Stream{}, kernel_,
                             {scratch_.data(), n, kScratchColumns, kScratchColumns},
                             {inverse_.data(), 1, n, n})
           .ok()) {
    return kNoLoss;
  }
  double sum = 0;
  for (int k = 0; k < class_count_; ++k) {
    const float* dual = dual_.data() + std::size_t(k) * std::size_t(n);
    for (int i = 0; i < n; ++i) {
      const double error = double(dual[i]) / inverse_[std::size_t(i)];
      sum += error * error;
    }
  }
  const double mean = sum / (double(n) * class_count_);
  return std::isfinite(mean) ? mean : kNoLoss;
}

MatrixView<const float> LeaveOneOut::dual() const {
  return {dual_.data(), class_count_, kernel_.size, kernel_.size};
}

void LeaveOneOut::scores(MatrixView<float> scores) const {
  ENGRAM_CHECK(scores.rows == kernel_.size && scores.cols == class_count_);
  for (int i = 0; i < scores.rows; ++i) {
    for (int k = 0; k < scores.cols; ++k) {
      const float wanted = classes_[std::size_t(i)] == k ? 1.0f : 0.0f;
      scores(i, k) = wanted - dual()(k, i) / inverse_[std::size_t(i)];
    }
  }
}

double LeaveOneOut::trace_of_inverse() const {
  return std::accumulate(inverse_.begin(), inverse_.end(), 0.0);
}

double LeaveOneOut::squared_dual() const {
  double sum = 0;
  for (const float value : dual_) sum += double(value) * value;
  return sum;
}

LambdaChoice choose_by_leave_one_out(LeaveOneOut& problem) {
  return choose(problem, {.loss = [](LeaveOneOut& at, double lambda) { return at.loss(lambda); },
                          .slope = [](LeaveOneOut& at) { return at.slope(); },
                          .more_curvature = 1.25,
                          .unseen = 1e-2});
}

LambdaChoice choose_by_kernel_gcv(LeaveOneOut& problem) {
  const auto loss = [](LeaveOneOut& at, double lambda) {
    if (std::isnan(at.loss(lambda))) return kNoLoss;
    const double n = at.kernel().size;
    const double left = 1.0 - kFreedomWeight * (1.0 - lambda * at.trace_of_inverse() / n);
    if (!(left > 0)) return kNoLoss;
    return lambda * lambda * at.squared_dual() / n / (left * left) / at.class_count();
  };
  // Its curves are less alike, of a part and of all samples.
  return choose(problem, {.loss = loss, .slope = {}, .more_curvature = 1.0, .unseen = 2e-4});
}

}  // namespace engram
