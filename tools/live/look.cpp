#include "tools/live/look.h"

#include <new>
#include <span>
#include <utility>

#include "engine/answer.h"
#include "kernels/backend.h"
#include "platform/second_try.h"
#include "platform/steady_time.h"
#include "tools/unknown_report.h"

namespace engram {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kAnswers = 5;
constexpr milliseconds kFramePatience{100};  // for a frame: then the camera is asked how it is

constexpr char kNoMemory[] = "not enough memory to look at this frame";

}  // namespace

Look::Look(FeatureExtractor extractor, Scorer scorer, const CameraFeed& feed, Board& board,
           const Rates& rates)
    : extractor_(std::move(extractor)),
      scorer_(std::move(scorer)),
      feed_(feed),
      board_(board),
      rates_(rates) {}

void Look::start() {
  thread_ = std::thread([this] { run(); });
}

void Look::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool Look::sleep_until(Clock::time_point due) {
  std::unique_lock lock(mutex_);
  return !wake_.wait_until(lock, due, [this] { return stopping_; });
}

void Look::run() {
  Clock::time_point due = since_ = Clock::now();
  std::uint64_t seen = 0;
  while (sleep_until(due)) {
    ++rounds_;
    const Frame frame = feed_.wait(seen, kFramePatience);
    tell_camera(feed_.state());
    tell_engine();
    tell_gpu();
    if (frame.number <= seen || frame.picture == nullptr) {
      if (frame.number <= seen) due = Clock::now() + milliseconds(1);  // a feed that has stopped
      continue;
    }
    seen = frame.number;
    const double rate = rates_.most_per_second / (board_.view().throttled ? 2 : 1);
    due = Clock::now() +
          std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1 / rate));
    try {
      look_at(frame);
    } catch (const std::bad_alloc&) {
      tell_failure(Status(Code::out_of_memory, kNoMemory));
    }
  }
}

void Look::look_at(const Frame& frame) {
  const Board::Looking looking(board_);
  const Board::View view = board_.view();
  auto sight = std::make_shared<Sight>();
  sight->frame = frame;
  if (view.mirror) {
    sight->frame.picture = std::make_shared<const CameraPicture>(mirrored(frame.picture->rgb()));
  }
  if (!view.paused) {
    const Status judged = judge(*sight, cut_out(sight->frame.picture->view(), view.region));
    if (judged.ok()) {
      failure_.clear();
    } else {
      sight->features.clear();
      tell_failure(judged);
    }
  }
  measure(*sight);
  board_.show(std::move(sight));
}

bool Look::lies_elsewhere() const {
  return features_.get_allocator() != SharedVector<float>::allocator_type();
}

Status Look::judge(Sight& sight, const PictureView& picture) {
  return second_try(
      [&] { return judge_once(sight, picture); }, kNoMemory,
      [&](const Status& why) { return !give_up_lost_device(why).ok() && lies_elsewhere(); });
}

Status Look::judge_once(Sight& sight, const PictureView& picture) {
  const Clock::time_point start = Clock::now();
  const int width = extractor_.features();
  // At the same place for every frame and within reach of the device, which repeats what it recorded.
  if (lies_elsewhere()) {  // of another device, or a lost one
    features_ = SharedVector<float>();
    scores_ = SharedVector<float>();
  }
  features_.resize(std::size_t(width));
  const MatrixView<float> features{features_.data(), 1, width, width};
  ENGRAM_TRY(extractor_.extract({&picture, 1}, features));
  sight.features.assign(features_.begin(), features_.end());
  sight.backbone_ms = milliseconds_since(start);

  const Clock::time_point scored = Clock::now();
  const Board::Judge judge = board_.judge();
  sight.revision = judge.revision;
  sight.says_unknown = says_unknown(judge.readout.get());
  if (judge.readout != nullptr && !judge.readout->classes.empty()) {
    const int classes = int(judge.readout->classes.size());
    scores_.resize(std::size_t(classes) + 1);
    const std::span<float> scores(scores_.data(), std::size_t(classes));
    float& leverage = scores_.back();
    ENGRAM_TRY(scorer_.score(features, *judge.readout, {scores.data(), 1, classes, classes},
                             {&leverage, 1}));
    sight.answers = best_answers(*judge.readout, scores, leverage, kAnswers, rates_.false_alarms);
  }
  sight.head_ms = milliseconds_since(scored);
  return {};
}

void Look::measure(const Sight& sight) {
  ++shown_;
  if (!sight.features.empty()) {
    ++looks_;
    backbone_ms_ += sight.backbone_ms;
    head_ms_ += sight.head_ms;
  }
  const double seconds = seconds_since(since_);
  if (seconds < 1) return;
  const double looks = std::max(looks_, 1);
  board_.measured(backbone_ms_ / looks, head_ms_ / looks, shown_ / seconds);
  since_ = Clock::now();
  backbone_ms_ = head_ms_ = 0;
  looks_ = shown_ = 0;
}

}  // namespace engram
