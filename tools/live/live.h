// The camera app without a face: it looks, and it learns. A terminal, a page or a test drives it.
//
//     CameraFeed > [look]  > Sight: answers of the newest frame        a thread, as fast as frames come
//                  [teach] > Store: one Order after another            a thread; durable, then acknowledged
//
// The threads share nothing but the newest Sight, the current readout (replaced whole) and the queue of
// orders, so learning never stalls the picture. Features of a frame are computed once, by look; an order
// to learn takes them from the Sight that it names, so it teaches what the user saw when the key went
// down, however late it is its turn.
//
// After every order the next frame is judged by everything learned (Learner::refresh). The task ends by
// itself after `quiet` without an order, and lambda is chosen then, or at once for the first sample.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/recogniser.h"
#include "platform/camera_feed.h"
#include "tools/live/live_state.h"
#include "tools/live/view.h"

namespace engram {

struct LiveOptions {
  Recogniser::Options recogniser;
  std::string source = "stage://";  // platform/camera.h; only told: `open_source` opens it
  CameraFeed::Open open_source;     // empty: open_camera(source)
  double false_alarms = kUsualFalseAlarms;
  std::chrono::milliseconds quiet{3000};   // without an order: the task ends
  double most_frames_per_second = 30;      // looked at; less heat
  double hottest = 85;                     // degrees Celsius; above: looked at half as often
  std::string machine_root;                // where its heat is read; empty: this machine
  std::string device;                      // a name for the audit trail; empty: the host's
  std::optional<bool> mirror;              // none: as it was chosen last on this state
  std::optional<Region> region;            // the same
  std::chrono::milliseconds mend{10'000};  // between two tries of storage that failed
  FileSystem* files = nullptr;             // to try it with; null: the real ones
};

// A state that is still to be read, which may take long: what it was when the last task ended answers
// meanwhile.
struct UnreadState {
  Store::Reserved reserved;
  LearnerConfig config;
  std::shared_ptr<const Readout> readout;
};

// A state that nobody can write to now. It answers, orders are refused with `why`, and as soon as it can
// be written it is read.
struct ReadOnlyState {
  std::string directory;
  LearnerConfig config;
  std::shared_ptr<const Readout> readout;
  Status why;
};

// What a session stands on, where the caller made it: tests have backbones and disks of their own.
struct LiveParts {
  FeatureExtractor extractor;
  std::variant<Store, UnreadState, ReadOnlyState> state;
  const LearnerConfig& config() const;
};
// State and backbone. Without a number of threads the backbone gets all cores but one. Refused: a
// state of another backbone, a state that another process writes. Storage that is read-only is refused
// only where no task has ended there yet.
Result<LiveParts> open_live_parts(Recogniser::Options options);

// What one frame showed.
struct Sight {
  Frame frame;                  // as the camera gave it; `picture` upright, mirrored if asked
  std::vector<Answer> answers;  // best first, at most 5; empty: nothing was learned
  bool says_unknown = false;    // else too little was shown yet, and the best is only the nearest
  std::vector<float> features;  // (L); empty: paused, or the backbone failed
  std::uint64_t revision = 0;   // of the readout that answered: grows with every order
  double backbone_ms = 0, head_ms = 0;
};

// What the user wants. One of them is one step of undo.
struct Order {
  enum class Kind : std::uint8_t {
    learn,  // `label`: the frame of `sight`, or the newest; `burst`: refused as a near-duplicate is fine
    undo,      // `count` steps
    relabel,   // the last step becomes `label`
    rename,    // `label` becomes `other`; a class of that name takes it in
    forget,    // `label`, and no byte of it stays
    end_task,  // choose lambda now
    merge,     // what the exported state in the file `other` knows is added
  };
  Kind kind = Kind::learn;
  std::string label, other;
  int count = 1;
  bool burst = false;  // of a held key: near-duplicates of the last samples are skipped
  std::shared_ptr<const Sight> sight;  // null: the newest
};

// What became of it. The state is durable when this is said.
struct OrderResult {
  Status status;          // ok, or why not; nothing was changed then
  bool skipped = false;   // a near-duplicate in a burst
  std::string said;       // a sentence for people: "learned mug (12 samples)"
  double durable_ms = 0;  // from submit() to durable
  double known_ms = 0;    // from submit() to a readout that knows it
};

// Grow while the threads make progress or wait for work: every 100 ms at least when they look, every
// second when nobody orders anything, but not during one order.
struct Heartbeats {
  std::uint64_t look = 0, teach = 0;
};

class Live {
 public:
  // Opens state and backbone (open_live_parts); the camera may come later. A state that is damaged is
  // refused if that shows within kOpenPatience; later it is a fault: the picture goes on, orders are
  // refused, opened() tells why.
  static constexpr std::chrono::milliseconds kOpenPatience{200};
  static Result<std::unique_ptr<Live>> start(LiveOptions options);
  static Result<std::unique_ptr<Live>> start(LiveOptions options, LiveParts parts);
  ~Live();  // stop()
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;

  // The newest sight after frame number `after`; waits at most `patience`. Null: there is none.
  std::shared_ptr<const Sight> wait(std::uint64_t after, std::chrono::milliseconds patience) const;
  std::shared_ptr<const Sight> sight() const;  // the newest, or null

  // Queues an order; `done`, if any, is called by the teaching thread, in the order of submitting,
  // and must not wait for another one. busy: too many wait already (32), or the session stops.
  // not_found: to learn a picture of more than a minute ago, or of before the camera was lost; only a
  // tap in that very moment is taken.
  Status submit(Order order, std::function<void(const OrderResult&)> done);
  OrderResult carry_out(Order order);  // the same, waiting for it

  void pause(bool paused);  // the picture goes on, nothing is classified
  // At once; a region that is too large is cut. `done`: it is kept for the next start, too, or why not.
  void set_view(bool mirror, const Region& region,
                std::function<void(const OrderResult&)> done = nullptr);

  // Everything a face shows beside the picture; cheap, a copy of what the threads left last.
  LiveState state() const;
  // Grows whenever state() has something new to say beside frame rates.
  std::uint64_t changes() const;
  // A copy of the state on disk in one file (engine/state_file.h), consistent, made between two orders.
  Status export_to(const std::string& file);

  // Whether the threads live: for a watchdog.
  Heartbeats heartbeats() const;

  // ok, also while the state is still being read. Else why it could not be.
  Status opened() const;

  // Finishes the order under way and those that wait, as far as kStopPatience allows (the others are
  // refused, nothing changed), ends an open task, stops the threads. What was learned is durable anyway.
  static constexpr std::chrono::milliseconds kStopPatience{500};
  void stop();
  // The same, but does not wait for what takes longer, such as the solution of a large task. False:
  // that goes on. It may be abandoned by ending the process at once, as by kill -9: what was
  // acknowledged is on the disk. Until then this object must stay.
  static constexpr std::chrono::milliseconds kLeavePatience{700};
  bool stop_or_leave();

 private:
  struct Impl;
  void stop_looking();
  explicit Live(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace engram
