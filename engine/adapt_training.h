// Phase 1: what adapts the backbone is trained on the first task, by SGD, and the head beside it.
//
//     ENGRAM_ASSIGN(AdaptTraining training, AdaptTraining::create(model, settings, data, budget));
//     while (!training.done()) ENGRAM_TRY(training.epoch(progress));
//     use(training.parameters());
//
// A step: a batch of pictures in an order drawn anew for each epoch, forward and backward in micro-
// batches as memory allows, cross entropy of the cosine head, one step of SGD on everything that
// trains. After each epoch the pictures that are held out are looked at, without augmentation.
//
// Numerics. The same bits for any number of threads, and after save and restore, as without: order,
// dropout and start are pure functions of seed, epoch and step. Another micro-batch is the same
// mathematics, equal to rounding. All memory is taken by create.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/adapt_parameters.h"
#include "engine/adapt_plan.h"
#include "engine/adapt_settings.h"
#include "engine/vit_model.h"
#include "kernels/chosen_kernels.h"
#include "platform/matrix_view.h"
#include "platform/status.h"

namespace engram {

// Input tensors (n, 3 image^2) of these samples: augmented as epoch `epoch` wants, and for -1 as in
// testing. The same call must give the same tensors, whoever was asked for before.
using AdaptPictures =
    std::function<Status(std::span<const int> samples, int epoch, MatrixView<float> tensors)>;

struct AdaptData {
  std::vector<int> labels;  // class of each sample, 0 .. classes - 1
  int classes = 0;          // at least 2
  AdaptPictures pictures;
  std::vector<int> held_out;  // samples that are not trained on but watched
};

// What an epoch came to. Accuracies in %; NaN where nothing is held out.
struct AdaptEpoch {
  double loss = 0, accuracy = 0;  // of the pictures trained on, while they were
  double held_out_loss = 0, held_out_accuracy = 0;
  double seconds = 0;
};

struct AdaptStep {
  int epoch = 0;                              // 0, 1, ...
  int step = 0, steps = 0;                    // done in this epoch, and in all of it
  double loss = 0;                            // of this step
  double epoch_loss = 0, epoch_accuracy = 0;  // so far, accuracy in %
  double seconds = 0;                         // of this step
};
// After each step. False: stop here; the next call of epoch() goes on with the next step.
using AdaptProgress = std::function<bool(const AdaptStep& step)>;

class AdaptTraining {
 public:
  // model and kernels must outlive it. invalid_argument: settings or data make no sense, and how.
  // out_of_memory: the plan does not fit the budget (bytes, with the model's weights).
  static Result<AdaptTraining> create(const VitModel& model, const AdaptSettings& settings,
                                      const AdaptData& data, std::int64_t memory_budget,
                                      const Kernels& kernels = chosen_kernels());
  AdaptTraining(AdaptTraining&&) noexcept;
  AdaptTraining& operator=(AdaptTraining&&) noexcept;
  ~AdaptTraining();

  // One epoch, or the rest of one that was stopped. bad_data: the loss is not finite or far above
  // where it began; parameters are those of the last epoch that ended well, and the sentence says
  // what to change. A failure of `pictures`: the step was not done and can be tried again.
  // device_failure: half of a step may be done; go on from what was saved.
  Status epoch(const AdaptProgress& progress = {});

  bool done() const;  // all epochs
  int epochs_done() const;
  const std::vector<AdaptEpoch>& curves() const;  // one entry for each epoch that is done
  const AdaptParameters& parameters() const;
  const AdaptPlan& plan() const;
  const AdaptSettings& settings() const;  // micro_batch and recomputed_blocks as the plan chose

  // Features (n, L) of pictures (n, 3 image^2) by the parameters as they are.
  Status features(MatrixView<const float> pictures, MatrixView<float> features);

  // Everything that is needed to go on after a kill, between any two steps. restore is for a training
  // of the same model, data and settings. bad_data: the bytes are damaged. not_supported: of a newer
  // version. invalid_argument: of another model, other data or other settings, and which. Then
  // nothing was changed.
  void save(std::string& bytes) const;
  Status restore(const std::string& bytes);

 private:
  struct Impl;
  explicit AdaptTraining(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The settings in what save() wrote, for a training that is to go on with them.
Result<AdaptSettings> saved_adapt_settings(const std::string& bytes);

}  // namespace engram
