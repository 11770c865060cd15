#include "tools/adapt/adapt_run.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "engine/held_out.h"
#include "engine/state_backbone.h"
#include "platform/sentence.h"
#include "tools/adapt/nearest_mean_trial.h"
#include "tools/console/progress.h"
#include "tools/console/terminal.h"
#include "tools/convert/vit_check.h"
#include "tools/convert/vit_read.h"

namespace engram {
namespace {

constexpr int kCheckedPictures = 4;

Status check_same_subject(const AdaptCheckpoint& saved, const StoredModel& parent,
                          const TrainingPictures& pictures) {
  const auto refuse = [](const std::string& what) {
    return Status(
        Code::invalid_argument,
        fmt::format("the training that was begun is of {}. It was kept; go on with what it "
                    "was begun with, or begin again with --restart.",
                    what));
  };
  if (!same_backbone(saved.backbone, backbone_of(parent.card))) {
    return refuse(
        fmt::format("the model {} ({}...)", printable(saved.model), saved.backbone.substr(0, 12)));
  }
  if (saved.pictures != pictures.digest()) return refuse("other pictures, or of fewer or more");
  return {};
}

// That our forward is the backbone's, on a few of the pictures themselves.
Status check_on_pictures(const VitModel& model, FeatureExtractor& backbone,
                         const TrainingPictures& pictures) {
  std::vector<Image> some;
  for (int i = 0; i < kCheckedPictures; ++i) {
    ENGRAM_ASSIGN(Image picture, pictures.picture(i * pictures.count() / kCheckedPictures));
    some.push_back(std::move(picture));
  }
  return check_vit(model, backbone, some);
}

// Pictures may take a quarter, or less where the training needs it.
Result<std::int64_t> memory_for_pictures(const AdaptRequest& request, const VitModel& model,
                                         int classes, std::int64_t memory) {
  const VitFacts facts = VitFacts::of(model);
  const std::int64_t quarter = memory / 4;
  if (plan_adaptation(facts, request.settings, classes, memory - quarter).ok()) return quarter;
  ENGRAM_ASSIGN(const AdaptPlan plan, plan_adaptation(facts, request.settings, classes, memory));
  return memory - plan.total();
}

// A picture that could be read before training and cannot any more.
Status still_there(const Status& read) {
  if (read.ok() || read.code() == Code::out_of_memory) return read;
  return Status(Code::io_failure,
                fmt::format("{} The models are as they were, and what was trained "
                            "up to the last epoch is kept.",
                            sentence(read.what())));
}

int count_classes(const std::vector<LabelledPath>& items) {
  std::vector<std::string> labels;
  for (const LabelledPath& item : items) labels.push_back(item.label);
  std::sort(labels.begin(), labels.end());
  return int(std::unique(labels.begin(), labels.end()) - labels.begin());
}

}  // namespace

Result<VitModel> read_plain_vit(const StoredModel& parent) {
  ENGRAM_ASSIGN(const MappedFile file, MappedFile::open(parent.onnx));
  const ModelCard& card = parent.card;
  auto model = read_vit(file.bytes(), card.name, card.output, card.preprocess.crop);
  if (model.ok() || model.status().code() != Code::not_supported) return model;
  return Status(
      Code::not_supported,
      fmt::format(
          "{} Phase 1 is for plain Vision Transformers; this model goes on frozen, as in the "
          "paper, and nothing was changed. One that can adapt: engram model add "
          "dinov2-vits14",
          sentence(model.status().what())));
}

int best_epoch(const std::vector<AdaptEpoch>& curves) {
  int best = int(curves.size()) - 1;
  for (int i = int(curves.size()) - 1; i >= 0; --i) {
    const double loss = curves[std::size_t(i)].held_out_loss;
    if (!std::isfinite(loss)) return int(curves.size()) - 1;
    if (loss <= curves[std::size_t(best)].held_out_loss) best = i;
  }
  return best;
}

Result<AdaptRun> AdaptRun::prepare(AdaptRequest request, const AdaptCheckpoint* saved,
                                   const Console& console) {
  AdaptRun run;
  run.memory_ = request.memory > 0 ? request.memory : usual_adapt_memory();
  if (saved != nullptr) {  // the same bits need the same parts of a batch
    ENGRAM_ASSIGN(const AdaptSettings before, saved_adapt_settings(saved->training));
    request.settings.micro_batch = before.micro_batch;
    request.settings.recomputed_blocks = before.recomputed_blocks;
  }
  {
    const Progress progress(console.shows_progress(), "model");
    ENGRAM_ASSIGN(VitModel model, read_plain_vit(request.parent));
    ENGRAM_TRY(check_adapt_settings(request.settings, model.shape));
    run.model_ = std::make_unique<VitModel>(std::move(model));
  }
  const int classes = count_classes(request.items);
  ENGRAM_ASSIGN(const std::int64_t for_pictures,
                memory_for_pictures(request, *run.model_, std::max(classes, 2), run.memory_));
  ENGRAM_ASSIGN(
      TrainingPictures pictures,
      TrainingPictures::read(request.items, request.parent.card.preprocess, for_pictures, console));
  run.pictures_ = std::make_unique<TrainingPictures>(std::move(pictures));
  run.task_ = {run.pictures_->classes(), run.pictures_->labels(),
               choose_held_out(run.pictures_->labels(), int(run.pictures_->classes().size()),
                               request.settings.seed)};
  ENGRAM_TRY(check_first_task(run.task_, request.settings));
  if (const std::string note = small_classes_note(run.task_); !note.empty()) console.warn(note);
  ENGRAM_ASSIGN(FeatureExtractor backbone,
                FeatureExtractor::open(request.parent, {.threads = request.threads}));
  ENGRAM_TRY(check_on_pictures(*run.model_, backbone, *run.pictures_));
  if (saved != nullptr) ENGRAM_TRY(check_same_subject(*saved, request.parent, *run.pictures_));

  const TrainingPictures* const shown = run.pictures_.get();
  const std::uint64_t seed = request.settings.seed;
  const AdaptData data{
      .labels = run.task_.labels,
      .classes = int(run.task_.classes.size()),
      .pictures =
          [shown, seed](std::span<const int> samples, int epoch, MatrixView<float> tensors) {
            return still_there(shown->tensors(samples, epoch, seed, tensors));
          },
      .held_out = run.task_.held_out};
  ENGRAM_ASSIGN(AdaptTraining training,
                AdaptTraining::create(*run.model_, request.settings, data,
                                      run.memory_ - run.pictures_->kept_bytes()));
  run.training_ = std::make_unique<AdaptTraining>(std::move(training));
  run.request_ = std::move(request);
  if (saved != nullptr) {
    ENGRAM_TRY(run.go_on_from(*saved));
  } else {
    run.backbone_ = std::make_unique<FeatureExtractor>(std::move(backbone));
  }
  return run;
}

Status AdaptRun::go_on_from(const AdaptCheckpoint& saved) {
  ENGRAM_TRY(training_->restore(saved.training));
  const std::size_t values = training_->parameters().values.size();
  if (saved.best.size() != (training_->epochs_done() > 0 ? values : 0)) {
    return Status(Code::bad_data,
                  "the training that was begun does not fit together; begin again with --restart.");
  }
  before_ = saved.before;
  knows_before_ = true;
  best_ = saved.best;
  resumed_at_ = training_->epochs_done();
  return {};
}

Status AdaptRun::measure_before(const Console& console) {
  if (knows_before_) return {};
  ENGRAM_ASSIGN(before_,
                try_nearest_mean(*backbone_, *pictures_, task_.held_out, "before", console));
  knows_before_ = true;
  backbone_.reset();  // training needs the memory
  return {};
}

Status AdaptRun::save(const AdaptWatch& watch) const {
  if (!watch.save) return {};
  AdaptCheckpoint checkpoint{.pictures = pictures_->digest(),
                             .before = before_,
                             .model = request_.parent.card.name,
                             .backbone = backbone_of(request_.parent.card),
                             .training = {},
                             .best = best_};
  training_->save(checkpoint.training);
  const Status saved = watch.save(checkpoint);
  if (saved.ok()) return {};
  const int done = training_->epochs_done();
  return Status(
      saved.code(),
      fmt::format("{} The models are as they were, and {}. Make room and go on with "
                  "--resume.",
                  sentence(saved.what()),
                  done <= 1 ? std::string("nothing was trained yet that could be lost")
                            : fmt::format("what was trained up to epoch {} is kept", done - 1)));
}

bool AdaptRun::is_overfitting() const {
  const std::vector<AdaptEpoch>& curves = training_->curves();
  return request_.patience > 0 && !task_.held_out.empty() &&
         int(curves.size()) - 1 - best_epoch(curves) >= request_.patience;
}

Result<AdaptRun::End> AdaptRun::train(const AdaptWatch& watch) {
  if (resumed_at_ == 0) ENGRAM_TRY(save(watch));  // a full disk is found now, not after an epoch
  while (!training_->done()) {
    if (is_overfitting()) return End::early;
    const int before = training_->epochs_done();
    bool stop = false;
    ENGRAM_TRY(training_->epoch([&](const AdaptStep& step) {
      if (watch.step) watch.step(step);
      stop = watch.stopped && watch.stopped();
      return !stop;
    }));
    if (training_->epochs_done() > before) {
      if (best_epoch(training_->curves()) == before) {
        const auto& values = training_->parameters().values;
        best_.assign(values.begin(), values.end());
      }
      if (watch.epoch) watch.epoch(training_->curves());
    }
    ENGRAM_TRY(save(watch));
    if (stop && !training_->done()) return End::stopped;
  }
  return End::done;
}

AdaptParameters AdaptRun::best() const {
  AdaptParameters parameters = training_->parameters();
  if (!best_.empty()) std::copy(best_.begin(), best_.end(), parameters.values.begin());
  return parameters;
}

}  // namespace engram
