#include "engine/split_trial.h"

#include <algorithm>
#include <numeric>

#include "engine/dual_ridge.h"
#include "kernels/kernels.h"
#include "platform/arena.h"
#include "platform/device_staging.h"

namespace engram {
namespace {

// Hidden units of some samples of the task, with the classes in the same order.
struct HiddenRows {
  Arena memory = Arena::empty();
  MatrixView<float> h;
  std::vector<std::int32_t> classes;
};

Result<HiddenRows> hidden_rows(const LambdaProblem& problem, std::span<const int> order) {
  HiddenRows rows;
  const int units = problem.config.hidden_units(), count = int(order.size());
  const int batch_rows = problem.scratch.h.rows;
  ENGRAM_ASSIGN(rows.memory, Arena::create(Arena::bytes_for(std::size_t(count) * std::size_t(units),
                                                            sizeof(float))));
  rows.h = rows.memory.take_matrix<float>(count, units);
  const std::size_t row_bytes = problem.samples.row_bytes();
  std::vector<std::byte> batch(row_bytes * std::size_t(batch_rows));
  for (int first = 0; first < count; first += batch_rows) {
    const int size = std::min(batch_rows, count - first);
    for (int b = 0; b < size; ++b) {
      const int sample = problem.task_first + order[std::size_t(first + b)];
      std::copy_n(problem.samples.row(sample), row_bytes,
                  batch.data() + row_bytes * std::size_t(b));
      rows.classes.push_back(problem.samples.classes()[std::size_t(sample)]);
    }
    ENGRAM_TRY(
        problem.projection.from_rows(batch.data(), problem.scratch, rows.h.row_range(first, size)));
  }
  return rows;
}

double mean_squared_error(MatrixView<const float> scores, std::span<const std::int32_t> classes) {
  double sum = 0;
  for (int b = 0; b < scores.rows; ++b) {
    for (int k = 0; k < scores.cols; ++k) {
      const double error = double(scores(b, k)) - (classes[std::size_t(b)] == k ? 1.0 : 0.0);
      sum += error * error;
    }
  }
  return sum / (double(scores.rows) * scores.cols);
}

// Judges candidates by readouts made from `gram` without the rows `left_out`, and from `sums`.
class PrimalTrial {
 public:
  PrimalTrial(const Kernels& kernels, GramView gram, MatrixView<const float> sums,
              MatrixView<const float> left_out, const HiddenRows& held_out)
      : kernels_(kernels),
        gram_(gram),
        sums_(sums),
        left_out_(left_out),
        held_out_(held_out),
        readout_(std::size_t(sums.rows) * std::size_t(sums.cols)),
        scores_(std::size_t(held_out.h.rows) * std::size_t(sums.rows)) {}

  double loss(double lambda) {
    if (!kernels_.cholesky(Stream{}, float(lambda), left_out_, gram_).ok()) return kNoLoss;
    const MatrixView<float> readout{readout_.data(), sums_.rows, sums_.cols, sums_.cols};
    const MatrixView<float> scores{scores_.data(), held_out_.h.rows, sums_.rows, sums_.rows};
    std::copy(sums_.data, sums_.data + readout_.size(), readout_.begin());
    const bool solved = kernels_.cholesky_solve(Stream{}, gram_, readout).ok() &&
                        kernels_.score(Stream{}, held_out_.h, readout, scores).ok();
    return solved ? mean_squared_error(scores, held_out_.classes) : kNoLoss;
  }

 private:
  const Kernels& kernels_;
  GramView gram_;
  MatrixView<const float> sums_;
  MatrixView<const float> left_out_;
  const HiddenRows& held_out_;
  std::vector<float> readout_;
  std::vector<float> scores_;
};

// Calls loss(lambda) for every candidate that float can carry.
template <class Loss>
void try_candidates(double floor, const Loss& loss, LambdaChoice& choice) {
  for (const double lambda : choice.candidates) {
    DeviceHold::let_others();
    choice.losses.push_back(lambda < floor ? kNoLoss : loss(lambda));
  }
}

MatrixView<const std::int32_t> as_row(const std::vector<std::int32_t>& classes) {
  return {classes.data(), 1, int(classes.size()), int(classes.size())};
}

Status try_paper(const LambdaProblem& problem, std::span<const int> held, double floor,
                 LambdaChoice& choice) {
  const Kernels& kernels = problem.statistics.kernels();
  const MatrixView<const float> all = problem.statistics.dense().sums();
  ENGRAM_ASSIGN(const HiddenRows held_out, hidden_rows(problem, held));
  std::vector<float> sums(all.data, all.data + std::size_t(all.rows) * std::size_t(all.cols));
  const MatrixView<float> past{sums.data(), all.rows, all.cols, all.cols};
  ENGRAM_TRY(kernels.class_sums(Stream{}, held_out.h, as_row(held_out.classes), -1.0f, past));
  PrimalTrial trial(kernels, problem.statistics.dense().gram(), past, held_out.h, held_out);
  try_candidates(
      floor, [&](double lambda) { return trial.loss(lambda); }, choice);
  return {};
}

// More samples than hidden units are worth a kernel for: G of the 80 % in a buffer of its own.
Status try_code_primal(const LambdaProblem& problem, std::span<const int> learned,
                       std::span<const int> held, double floor, LambdaChoice& choice) {
  const Kernels& kernels = problem.statistics.kernels();
  const int units = problem.config.hidden_units(), classes = problem.statistics.classes().size();
  ENGRAM_ASSIGN(const HiddenRows held_out, hidden_rows(problem, held));
  const auto m = std::size_t(units);
  ENGRAM_ASSIGN(
      Arena memory,
      Arena::create(Arena::bytes_for(m * m, sizeof(float)) + Arena::bytes_for(m, sizeof(float)) +
                    Arena::bytes_for(m * std::size_t(classes), sizeof(float))));
  const GramView gram{memory.take<float>(m * m), memory.take<float>(m), units, units};
  const MatrixView<float> sums = memory.take_matrix<float>(classes, units);
  const auto batch_rows = std::size_t(problem.scratch.h.rows);
  for (std::size_t first = 0; first < learned.size(); first += batch_rows) {
    const std::size_t size = std::min(batch_rows, learned.size() - first);
    DeviceHold::let_others();
    ENGRAM_ASSIGN(const HiddenRows rows, hidden_rows(problem, learned.subspan(first, size)));
    ENGRAM_TRY(kernels.gram_update(Stream{}, rows.h, 1.0f, gram));
    ENGRAM_TRY(kernels.class_sums(Stream{}, rows.h, as_row(rows.classes), 1.0f, sums));
  }
  PrimalTrial trial(kernels, gram, sums, {}, held_out);
  try_candidates(
      floor, [&](double lambda) { return trial.loss(lambda); }, choice);
  return {};
}

// `samples`: indices into the kernel matrix, the first `learned` of them to learn from.
void try_kernel(GramView kernel, std::span<const std::int32_t> classes,
                std::span<const int> samples, int learned, int class_count, double floor,
                LambdaChoice& choice) {
  DualRidge dual(kernel, classes, samples, learned, class_count);
  try_candidates(
      floor, [&](double lambda) { return dual.loss(lambda); }, choice);
}

// The kernel matrix is there: `code` learns from the task's own part of it, `paper` from all that came
// before as well.
void try_factored(const LambdaProblem& problem, std::span<const int> order, int learned,
                  double floor, LambdaChoice& choice) {
  std::vector<int> samples;
  if (problem.config.lambda_rule == LambdaRule::paper) {
    samples.resize(std::size_t(problem.task_first));
    std::iota(samples.begin(), samples.end(), 0);
  }
  const int before = int(samples.size());
  for (const int sample : order) samples.push_back(problem.task_first + sample);
  try_kernel(problem.statistics.factored().kernel().view(), problem.samples.classes(), samples,
             before + learned, problem.statistics.classes().size(), floor, choice);
}

Status try_code_kernel(const LambdaProblem& problem, std::span<const int> order, int learned,
                       double floor, LambdaChoice& choice) {
  ENGRAM_ASSIGN(const HiddenRows rows, hidden_rows(problem, order));
  const int count = rows.h.rows;
  const auto n = std::size_t(count);
  std::vector<float> kernel(n * n), diagonal(n);
  const KeptView hidden{nullptr, rows.h.data, count, rows.h.cols};
  ENGRAM_TRY(problem.statistics.kernels().kernel_rows(Stream{}, hidden, hidden,
                                                      {kernel.data(), count, count, count}));
  for (std::size_t i = 0; i < n; ++i) diagonal[i] = kernel[n * i + i];
  std::vector<int> samples(n);
  std::iota(samples.begin(), samples.end(), 0);
  try_kernel({kernel.data(), diagonal.data(), count, count}, rows.classes, samples, learned,
             problem.statistics.classes().size(), floor, choice);
  return {};
}

}  // namespace

Status try_split(const LambdaProblem& problem, std::span<const int> order, int learned,
                 double floor, LambdaChoice& choice) {
  choice.candidates = lambda_grid(problem.config);
  if (problem.statistics.form() == Form::factored) {
    try_factored(problem, order, learned, floor, choice);
    return {};
  }
  const std::span<const int> held = order.subspan(std::size_t(learned));
  if (problem.config.lambda_rule == LambdaRule::paper) {
    return try_paper(problem, held, floor, choice);
  }
  if (order.size() * 2 <= std::size_t(problem.config.hidden_units())) {
    return try_code_kernel(problem, order, learned, floor, choice);
  }
  return try_code_primal(problem, order.first(std::size_t(learned)), held, floor, choice);
}

}  // namespace engram
