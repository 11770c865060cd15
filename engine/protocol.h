// The class-incremental protocol: classes arrive in tasks, each sample is seen once, and after
// every task the learner is tested on all classes seen so far.
//
//     R[t,i]   accuracy in % on the test samples of task i's classes after task t, i <= t
//     A_t      mean over i <= t of R[t,i]                                 average accuracy
//     F_t      mean over i < t of max over t' < t of (R[t',i] - R[t,i])   average forgetting; F_1 = 0
//     top1_t   accuracy in % on all test samples of the classes seen so far
//
// Class order, task sizes and sample order follow the authors' program, so that figures can be
// compared: class order is numpy's RandomState(class_seed).permutation(K) (engine/metrics.h).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/config.h"
#include "kernels/kernels.h"
#include "platform/matrix_view.h"
#include "platform/status.h"

namespace engram {

enum class Head : std::uint8_t {
  ranpac,         // Learner as config says
  no_projection,  // Learner with hidden = 0 in float: ridge regression on the features themselves
  ncm,            // nearest class mean, by cosine
};
const char* name(Head head);  // "ranpac", "no-projection", "ncm"
Result<Head> parse_head(const std::string& text);

// Features in host memory, borrowed. y holds indices into `classes`.
struct ProtocolData {
  MatrixView<const float> x_train;   // (N, L)
  std::span<const int> y_train;      // (N)
  MatrixView<const float> x_test;    // (n, L)
  std::span<const int> y_test;       // (n)
  std::vector<std::string> classes;  // K names; each needs at least one training sample
};

struct ProtocolProgress {
  int task = 0;            // 1..tasks
  int tasks = 0;           // in all
  const char* stage = "";  // "learn", "solve", "test"
  std::int64_t done = 0;   // samples of this stage, of `total`
  std::int64_t total = 0;
};

struct ProtocolOptions {
  Head head = Head::ranpac;
  LearnerConfig config;  // features is taken from the data; exact needs the card's scale and mul
  // Task sizes: `tasks` parts that differ by at most one class, the larger ones first; or, where
  // first > 0, [first, increment, increment, ...] and the rest last.
  int tasks = 10;
  int first = 0;
  int increment = 0;
  bool shuffle_classes = true;
  std::uint32_t class_seed = 1993;
  std::uint32_t sample_seed = 1;                          // order of the samples inside each task
  int batch = 256;                                        // samples given to the learner at once
  std::function<void(const ProtocolProgress&)> progress;  // may be empty
};

struct TaskResult {
  int classes_seen = 0;
  std::int64_t train_samples = 0;  // of this task
  std::int64_t test_samples = 0;   // of the classes seen so far
  std::vector<double> accuracy;    // R[t, 0..t] in %; NaN: no test sample of that task
  double average_accuracy = 0;     // A_t in %
  double forgetting = 0;           // F_t in points
  double top1 = 0;                 // in %
  double lambda = 0;               // 0 for ncm
  std::string note;                // of the lambda rule, usually empty
  double learn_seconds = 0;        // statistics
  double solve_seconds = 0;        // choice of lambda and readout
  double test_seconds = 0;
};

struct ProtocolResult {
  std::vector<int> class_order;      // class_order[j]: index into classes of the j-th class learned
  std::vector<int> task_sizes;       // classes per task
  std::vector<TaskResult> tasks;     // one per task, in order
  std::vector<int> predictions;      // class of each test sample after the last task
  double mean_average_accuracy = 0;  // mean over t of A_t
  double seconds = 0;
};

// invalid_argument: shapes that do not match, a class without training samples, more tasks than
// classes. bad_data: a feature that is not finite.
Result<ProtocolResult> run_protocol(const ProtocolData& data, const ProtocolOptions& options,
                                    const Kernels& kernels = kCpuKernels);

}  // namespace engram
