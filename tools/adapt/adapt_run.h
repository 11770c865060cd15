// One adaptation of a backbone to pictures (Phase 1), from a stored model to trained parameters.
//
//     prepare   model into weights of our own, memory planned, pictures read, first task judged
//     resume    from a checkpoint, where there is one
//     train     epoch by epoch, until done, until the pictures held out say stop, or until asked to
//
// The parameters that are kept are those of the epoch with the least loss on the pictures held out;
// the last epoch's where none is held out. Nothing here touches the model store.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/adapt_training.h"
#include "engine/feature_extractor.h"
#include "engine/model_store.h"
#include "platform/status.h"
#include "tools/adapt/adapt_checkpoint.h"
#include "tools/adapt/adapt_checks.h"
#include "tools/adapt/training_pictures.h"
#include "tools/console/console.h"
#include "tools/pictures/label_file.h"

namespace engram {

struct AdaptRequest {
  StoredModel parent;
  std::vector<LabelledPath> items;
  AdaptSettings settings;
  std::int64_t memory = 0;  // bytes, for training and pictures; 0: usual_adapt_memory()
  int patience = 5;         // epochs without a better loss on pictures held out; 0: all are trained
  int threads = 0;          // of the backbone
};

// The model as weights of our own. not_supported: it is no plain Vision Transformer, and what then.
Result<VitModel> read_plain_vit(const StoredModel& parent);

// Index of the epoch with the least loss on pictures held out, or the last one where there are none.
// -1: there is no epoch.
int best_epoch(const std::vector<AdaptEpoch>& curves);

// Who watches; each may be empty.
struct AdaptWatch {
  std::function<void(const AdaptStep&)> step;
  std::function<void(const std::vector<AdaptEpoch>& curves)> epoch;
  std::function<bool()> stopped;  // asked after every step
  std::function<Status(const AdaptCheckpoint&)>
      save;  // at the start, after each epoch and at a stop
};

class AdaptRun {
 public:
  // `saved`: a checkpoint to go on from, or null. not_supported: the model is no plain Vision
  // Transformer. out_of_memory: what would fit. invalid_argument: the first task is too small, or the
  // checkpoint is of another model, other pictures or other settings. Pictures that cannot be read are
  // warned of and left out.
  static Result<AdaptRun> prepare(AdaptRequest request, const AdaptCheckpoint* saved,
                                  const Console& console);
  // Measures nearest class means on the frozen features, unless a checkpoint knew them.
  Status measure_before(const Console& console);

  enum class End { done, early, stopped };
  Result<End> train(const AdaptWatch& watch);

  const AdaptRequest& request() const { return request_; }
  const VitModel& model() const { return *model_; }
  const TrainingPictures& pictures() const { return *pictures_; }
  const FirstTask& task() const { return task_; }
  const AdaptTraining& training() const { return *training_; }
  const RightAnswers& before() const { return before_; }
  std::int64_t memory() const { return memory_; }
  int resumed_at() const { return resumed_at_; }  // epochs that the checkpoint had done
  // Of best_epoch().
  AdaptParameters best() const;

 private:
  AdaptRun() = default;
  Status go_on_from(const AdaptCheckpoint& saved);
  Status save(const AdaptWatch& watch) const;
  bool is_overfitting() const;

  AdaptRequest request_;
  std::unique_ptr<VitModel> model_;
  std::unique_ptr<TrainingPictures> pictures_;
  std::unique_ptr<AdaptTraining> training_;
  std::unique_ptr<FeatureExtractor> backbone_;  // frozen; until measure_before has been
  FirstTask task_;
  RightAnswers before_;
  bool knows_before_ = false;
  std::vector<float> best_;  // values of the best epoch so far
  std::int64_t memory_ = 0;
  int resumed_at_ = 0;
};

}  // namespace engram
