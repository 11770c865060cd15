#include "tools/bench/live_bench.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "engine/scorer.h"
#include "platform/steady_time.h"
#include "tools/live/live.h"

namespace engram {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::uint64_t kFirstExamView = 1'000'000;  // learned frames are counted from 0
constexpr double kSliceSeconds = 1;  // idle and learning in turn, so that noise meets both

// The stage as a camera that shows the object it is told to, never the same view twice.
class ToldCamera final : public Camera {
 public:
  ToldCamera(const Stage& stage, const std::atomic<int>& object, double frames_per_second)
      : stage_(stage), object_(object), period_(1 / frames_per_second) {}
  Result<CameraPicture> next() override {
    std::this_thread::sleep_until(due_);
    due_ = std::max(due_, Clock::now() - std::chrono::duration_cast<Clock::duration>(period_)) +
           std::chrono::duration_cast<Clock::duration>(period_);
    ENGRAM_ASSIGN(Image picture, stage_.view(object_, view_++));
    return CameraPicture(std::move(picture));
  }

 private:
  const Stage& stage_;
  const std::atomic<int>& object_;
  std::chrono::duration<double> period_;
  Clock::time_point due_ = Clock::now();
  std::uint64_t view_ = 0;
};

// New views of all objects; the backbone is frozen, so their features are computed once.
struct LiveExam {
  std::vector<float> features;  // (objects * views, L)
  int width = 0;
};

Result<LiveExam> prepare_exam(FeatureExtractor& extractor, const Stage& stage, int views) {
  LiveExam exam;
  exam.width = extractor.features();
  for (int object = 0; object < stage.objects(); ++object) {
    for (int view = 0; view < views; ++view) {
      ENGRAM_ASSIGN(const Image picture, stage.view(object, kFirstExamView + std::uint64_t(view)));
      const std::size_t at = exam.features.size();
      exam.features.resize(at + std::size_t(exam.width));
      ENGRAM_TRY(
          extractor.extract({&picture, 1}, {exam.features.data() + at, 1, exam.width, exam.width}));
    }
  }
  return exam;
}

// What the state on disk says of the new views of the objects so far.
Status ask(const LiveExam& exam, const Stage& stage, const std::string& state, int objects,
           int views, LiveBenchResult& result) {
  ENGRAM_ASSIGN(const StoredReadout stored, read_readout(state));
  ENGRAM_ASSIGN(Scorer scorer, Scorer::create(stored.config));
  const int rows = objects * views, classes = int(stored.readout.classes.size());
  std::vector<float> scores(std::size_t(rows) * std::size_t(classes));
  ENGRAM_TRY(scorer.score({exam.features.data(), rows, exam.width, exam.width}, stored.readout,
                          {scores.data(), rows, classes, classes}));
  LiveBenchRound round{stage.name(objects - 1)};
  Confusion& confusion = result.confusion;
  confusion.names.push_back(round.object);
  confusion.counts.assign(std::size_t(objects), std::vector<int>(std::size_t(objects)));
  for (int row = 0; row < rows; ++row) {
    const auto first = scores.begin() + std::ptrdiff_t(row) * classes;
    const auto best = std::max_element(first, first + classes) - first;
    const auto answer = std::find(confusion.names.begin(), confusion.names.end(),
                                  stored.readout.classes[std::size_t(best)]);
    ++round.asked;
    ++confusion.counts[std::size_t(row / views)][std::size_t(answer - confusion.names.begin())];
    if (*answer == stage.name(row / views)) ++round.right;
  }
  result.rounds.push_back(round);
  return {};
}

Result<std::shared_ptr<const Sight>> next_sight(const Live& live, std::uint64_t& after) {
  auto sight = live.wait(after, milliseconds(10'000));
  if (sight == nullptr) return Status(Code::internal, "the camera app showed nothing for 10 s");
  after = sight->frame.number;
  return sight;
}

Order tap(const std::string& label, std::shared_ptr<const Sight> sight) {
  Order order;
  order.label = label;
  order.sight = std::move(sight);
  return order;
}

Status learn_object(Live& live, const std::string& label, int taps, std::vector<double>& durable,
                    std::vector<double>& known) {
  std::uint64_t after = live.sight() ? live.sight()->frame.number : 0;
  for (int i = 0; i < 3; ++i) ENGRAM_TRY(next_sight(live, after).status());  // the object before
  for (int i = 0; i < taps; ++i) {
    ENGRAM_ASSIGN(std::shared_ptr<const Sight> sight, next_sight(live, after));
    const OrderResult result = live.carry_out(tap(label, std::move(sight)));
    ENGRAM_TRY(result.status);
    durable.push_back(result.durable_ms);
    known.push_back(result.known_ms);
  }
  Order end;
  end.kind = Order::Kind::end_task;
  return live.carry_out(end).status;
}

struct Looks {
  std::vector<double> looking, label;
  double seconds = 0;
};

Status look_on(const Live& live, double seconds, Looks& looks) {
  std::uint64_t after = live.sight() ? live.sight()->frame.number : 0;
  ENGRAM_TRY(next_sight(live, after).status());
  const double start = seconds_now();
  while (seconds_now() - start < seconds) {
    ENGRAM_ASSIGN(const std::shared_ptr<const Sight> sight, next_sight(live, after));
    looks.looking.push_back(sight->backbone_ms + sight->head_ms);
    looks.label.push_back(
        std::chrono::duration<double, std::milli>(Clock::now() - sight->frame.taken).count());
  }
  looks.seconds += seconds_now() - start;
  return {};
}

enum class Pace { every_frame, hurried };

// Taps and ends of tasks, once a frame or as fast as they are carried out, until told to stop. Taken
// back afterwards, so that the state stays of one size.
class Busy {
 public:
  Busy(Live& live, const Stage& stage, Pace pace)
      : live_(live), thread_([this, &stage, pace] { run(stage, pace); }) {}
  ~Busy() {
    stop_ = true;
    thread_.join();
  }
  int taps() const { return taps_; }

 private:
  void run(const Stage& stage, Pace pace) {
    std::uint64_t frame = 0;
    for (int i = 0; !stop_; ++i) {
      if (pace == Pace::every_frame && !next_sight(live_, frame).ok()) return;
      const OrderResult result =
          live_.carry_out(tap(stage.name(i % stage.objects()), live_.sight()));
      if (result.status.ok()) ++taps_;
      if (i % 10 != 9) continue;
      Order order;
      order.kind = i % 20 == 9 ? Order::Kind::end_task : Order::Kind::undo;
      order.count = 20;
      (void)live_.carry_out(order);
    }
  }
  Live& live_;
  std::atomic<bool> stop_{false};
  std::atomic<int> taps_{0};
  std::thread thread_;
};

}  // namespace

Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[std::min(values.size() - 1, std::size_t(share * double(values.size())))];
  };
  return {at(0.5), at(0.99), values.back(), int(values.size())};
}

Result<LiveBenchResult> bench_live(const LiveBenchOptions& options,
                                   const std::function<void(const LiveBenchRound&)>& on_round) {
  ENGRAM_ASSIGN(const Stage stage, Stage::open(options.stage));
  std::atomic<int> object{0};
  LiveOptions live_options;
  live_options.recogniser = options.recogniser;
  live_options.quiet = std::chrono::hours(1);  // tasks end when the benchmark says so
  live_options.open_source = [&]() -> Result<std::unique_ptr<Camera>> {
    return std::unique_ptr<Camera>(
        std::make_unique<ToldCamera>(stage, object, options.frames_per_second));
  };
  ENGRAM_ASSIGN(LiveParts parts, open_live_parts(options.recogniser));
  ENGRAM_ASSIGN(const LiveExam exam, prepare_exam(parts.extractor, stage, options.views));
  ENGRAM_ASSIGN(const std::unique_ptr<Live> live,
                Live::start(std::move(live_options), std::move(parts)));

  LiveBenchResult result;
  std::vector<double> durable, known;
  for (int i = 0; i < stage.objects(); ++i) {
    object = i;
    ENGRAM_TRY(learn_object(*live, stage.name(i), options.taps, durable, known));
    ENGRAM_TRY(ask(exam, stage, options.recogniser.state, i + 1, options.views, result));
    on_round(result.rounds.back());
  }
  result.durable = spread_of(std::move(durable));
  result.known = spread_of(std::move(known));

  Looks idle, learning, hurried;
  int taps = 0, hurried_taps = 0;
  const auto look_while_busy = [&](Pace pace, Looks& looks, int& count) -> Status {
    Busy busy(*live, stage, pace);
    ENGRAM_TRY(look_on(*live, kSliceSeconds, looks));
    count += busy.taps();
    return {};
  };
  for (double spent = 0; spent < options.seconds; spent += 3 * kSliceSeconds) {
    object = (object + 1) % stage.objects();
    ENGRAM_TRY(look_on(*live, kSliceSeconds, idle));
    ENGRAM_TRY(look_while_busy(Pace::every_frame, learning, taps));
    ENGRAM_TRY(look_while_busy(Pace::hurried, hurried, hurried_taps));
  }
  result.frames_per_second = double(idle.looking.size()) / idle.seconds;
  result.learned_per_second = taps / learning.seconds;
  result.hurried_per_second = hurried_taps / hurried.seconds;
  result.label = spread_of(std::move(idle.label));
  result.idle = spread_of(std::move(idle.looking));
  result.learning = spread_of(std::move(learning.looking));
  result.hurried = spread_of(std::move(hurried.looking));
  return result;
}

}  // namespace engram
