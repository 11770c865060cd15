// The looking thread: newest frame > view > backbone > scores > answers, as often as frames come and
// the rate allows. Heat halves the rate. A camera that goes or comes back is an event, and so is a GPU
// that is lost.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "engine/feature_extractor.h"
#include "engine/scorer.h"
#include "platform/buffer_allocator.h"
#include "platform/camera_feed.h"
#include "tools/live/board.h"

namespace engram {

class Look {
 public:
  struct Rates {
    double most_per_second = 30;
    double false_alarms = kUsualFalseAlarms;
  };
  Look(FeatureExtractor extractor, Scorer scorer, const CameraFeed& feed, Board& board,
       const Rates& rates);
  ~Look() { stop(); }

  void start();                                     // may throw std::system_error
  void stop();                                      // after the feed has stopped
  std::uint64_t rounds() const { return rounds_; }  // with a frame or without

 private:
  void run();
  bool sleep_until(std::chrono::steady_clock::time_point due);  // false: stop
  void look_at(const Frame& frame);
  Status judge(Sight& sight, const PictureView& picture);  // the CPU again, if the GPU was lost
  Status judge_once(Sight& sight, const PictureView& picture);
  // Is what a frame is computed in not the memory of who computes now?
  bool lies_elsewhere() const;
  void tell_camera(const FeedState& now);
  void tell_engine();
  void tell_gpu();
  void tell_failure(const Status& status);  // once for each sentence

  FeatureExtractor extractor_;
  Scorer scorer_;
  const CameraFeed& feed_;
  Board& board_;
  Rates rates_;

  SharedVector<float> features_, scores_;              // of one frame; scores, then its leverage
  FeedState::Kind camera_ = FeedState::Kind::opening;  // as told last; opening: nothing yet
  std::string failure_;
  EngineState::Kind engine_ = EngineState::Kind::none;  // as told last
  std::string engine_words_, cpu_because_;

  // Of the last second.
  std::chrono::steady_clock::time_point since_{};
  double backbone_ms_ = 0, head_ms_ = 0;
  int looks_ = 0, shown_ = 0;
  void measure(const Sight& sight);

  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::atomic<std::uint64_t> rounds_ = 0;
  std::thread thread_;
};

}  // namespace engram
