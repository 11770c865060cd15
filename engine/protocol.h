// Continual learning measured: samples arrive in tasks, each is seen once, and after every task the
// learner is tested.
//
//     R[t,i]     accuracy in % on the test samples of group i after task t
//     A_t        average accuracy: the mean over the groups, or accuracy over all (see below)
//     F_t        mean over i < t of max over t' < t of (R[t',i] - R[t,i])     forgetting; F_1 = 0
//     top1_t     accuracy in % on all samples tested
//     balanced_t mean over the classes tested of the accuracy on each
//
//   protocol    who comes when                               group             A_t
//   cil         classes in tasks                             classes of task   mean over groups
//   dil         domains in turn, any class in each           domain            over all
//   task_free   a stream without tasks: each class comes and classes new in    over all
//               goes around a time of its own; the learner   that part
//               is tested `tasks` times
//   joint       everything at once                           all               over all
//
// cil and task_free test the classes seen so far, dil and joint everything. Class order, task sizes
// and sample order of cil follow the authors' program, so that figures can be compared: class order
// is numpy's RandomState(class_seed).permutation(K) (engine/metrics.h).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/config.h"
#include "engine/readout_kinds.h"
#include "kernels/chosen_kernels.h"
#include "platform/matrix_view.h"
#include "platform/status.h"

namespace engram {

enum class Protocol : std::uint8_t { cil, dil, task_free, joint };
const char* name(Protocol protocol);  // "cil", "dil", "task-free", "joint"
Result<Protocol> parse_protocol(const std::string& text);

enum class Head : std::uint8_t {
  ranpac,         // Learner as config says, its readout ridge alone, as published
  no_projection,  // Learner with hidden = 0 in float: ridge regression on the features themselves
  pairwise,       // the same on all products of two of the first 100 features
  ncm,            // nearest class mean, by cosine
  lda,            // linear discriminant: shared covariance of the features
  rp_lda,         // the same on the hidden units
  scaled,         // ranpac with scores times n_c^-0.75, for classes of uneven size
  balanced,       // ranpac with all classes weighing the same (engine/readout_kinds.h)
  regression,     // ranpac on the class targets; the answer is the nearest target by cosine
  probe,          // linear probe: cosine layer trained by SGD on everything, always joint
  engram,         // Learner as config says: ours
};
const char* name(Head head);  // "ranpac", "no-projection", "rp-lda", ...
Result<Head> parse_head(const std::string& text);
bool projects(Head head);    // whether M means something to it
bool has_lambda(Head head);  // whether a lambda rule does

// Features in host memory, borrowed. y holds indices into `classes`.
struct ProtocolData {
  MatrixView<const float> x_train;      // (N, L)
  std::span<const int> y_train;         // (N)
  MatrixView<const float> x_test;       // (n, L)
  std::span<const int> y_test;          // (n)
  std::vector<std::string> classes;     // K names; each needs at least one training sample
  std::span<const int> domain_train{};  // (N) into domains, or empty
  std::span<const int> domain_test{};   // (n) into domains, or empty
  std::vector<std::string> domains{};   // in the order in which dil learns them
};

struct ProtocolProgress {
  int task = 0;            // 1..tasks
  int tasks = 0;           // in all
  const char* stage = "";  // "learn", "solve", "test"
  std::int64_t done = 0;   // samples of this stage, of `total`
  std::int64_t total = 0;
};

struct ProtocolOptions {
  Protocol protocol = Protocol::cil;
  Head head = Head::ranpac;
  LearnerConfig config;               // features is taken from the data; exact needs scale and mul
  double shrinkage = kShrinkage;      // lda: of the mean variance, added to each variance
  int queue = 0;                      // > 0: lambda by the newest samples (engine/queue_head.h)
  MatrixView<const float> targets{};  // regression: (K, D), in the order of the data's classes
  // Task sizes: `tasks` parts that differ by at most one class, the larger ones first; or, where
  // first > 0, [first, increment, increment, ...] and the rest last. task_free: 0 is 20, or as many as
  // there are samples.
  int tasks = 10;
  int first = 0;
  int increment = 0;
  bool shuffle_classes = true;
  std::uint32_t class_seed = 1993;
  std::uint32_t sample_seed = 1;  // order of the samples inside each task
  // Uneven classes: where most > 0, class j of a random order of K keeps at most
  // most * (least / most)^(j / (K - 1)) training samples, rounded, drawn at random.
  int most_samples = 0;
  int least_samples = 0;
  int batch = 256;                                        // samples given to the learner at once
  std::function<void(const ProtocolProgress&)> progress;  // may be empty
};

struct TaskResult {
  int classes_seen = 0;
  std::int64_t train_samples = 0;  // of this task
  std::int64_t test_samples = 0;   // tested after it
  std::vector<double> accuracy;    // R[t, ...] in %; NaN: no test sample of that group
  double average_accuracy = 0;     // A_t in %
  double forgetting = 0;           // F_t in points; NaN: not defined
  double top1 = 0;                 // in %
  double balanced = 0;             // in %
  double all_classes = 0;          // right answers in % of the whole test set, seen or not
  double lambda = 0;               // 0: the head has none
  std::string note;                // of the lambda rule, usually empty
  double learn_seconds = 0;        // statistics
  double solve_seconds = 0;        // choice of lambda and readout
  double test_seconds = 0;
};

struct ProtocolResult {
  std::vector<int> class_order;      // class_order[j]: index into classes of the j-th class learned
  std::vector<int> task_sizes;       // classes that are new in each task
  std::vector<std::string> groups;   // names of R's columns where they are not tasks: domains
  std::vector<TaskResult> tasks;     // one per task, in order
  std::vector<int> predictions;      // class of each test sample after the last task
  double mean_average_accuracy = 0;  // mean over t of A_t
  double seconds = 0;
};

// invalid_argument: shapes that do not match, a class without training samples, more tasks than
// classes, domains or targets that the protocol needs and that are not there. bad_data: a feature
// that is not finite.
Result<ProtocolResult> run_protocol(const ProtocolData& data, const ProtocolOptions& options,
                                    const Kernels& kernels = chosen_kernels());

}  // namespace engram
