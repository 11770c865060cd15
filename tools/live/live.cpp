#include "tools/live/live.h"

#include <algorithm>
#include <future>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "engine/scorer.h"
#include "kernels/backend.h"
#include "platform/camera_uri.h"
#include "platform/second_try.h"
#include "platform/sentence.h"
#include "platform/threads.h"
#include "tools/live/board.h"
#include "tools/live/chosen_view.h"
#include "tools/live/look.h"
#include "tools/live/teach.h"

namespace engram {
namespace {

// On the CPU, if the GPU turns out to be lost here.
Result<Scorer> create_scorer(const LearnerConfig& config) {
  return second_try([&] { return Scorer::create(config); }, "not enough memory to look at frames",
                    LostSince());
}

CameraFeed::Open opener(const LiveOptions& options) {
  if (options.open_source) return options.open_source;
  return [source = options.source] { return open_camera(source); };
}

Status read_only(const Status& why, const std::string& state) {
  return Status(
      Code::io_failure,
      fmt::format("{} What was learned answers, but nothing can be learned or changed until "
                  "{} can be written.",
                  sentence(why.what()), state));
}

// As it was chosen last on this state, unless this start says otherwise.
ChosenView first_view(const LiveOptions& options, Board& board) {
  const Result<ChosenView> kept = read_chosen_view(options.recogniser.state);
  if (!kept.ok() && kept.status().code() != Code::not_found) {
    board.event("fault", kept.status().what(), true);
  }
  ChosenView view = kept.ok() ? kept.value() : ChosenView{};
  view.mirror = options.mirror.value_or(view.mirror);
  view.region = within(options.region.value_or(view.region));
  return view;
}

constexpr std::chrono::seconds kOldest{60};       // that a learn may name
constexpr std::chrono::seconds kMomentOfLoss{2};  // a tap that crossed with it is meant

// Nobody looks at what was there long ago, or before the camera went. `named`: null is the newest, which
// stays however old it is, since it is what everyone sees.
Status check_is_of_now(const Sight* named, const Sight* newest, const FeedState& feed) {
  const auto age =
      named == nullptr ? kOldest : std::chrono::steady_clock::now() - named->frame.taken;
  if (feed.kind == FeedState::Kind::lost && age > kMomentOfLoss) {
    return Status(
        Code::not_found,
        fmt::format("the camera shows nothing now ({}), so nothing was learned", feed.why));
  }
  const bool is_shown =
      named == nullptr || (newest != nullptr && newest->frame.number == named->frame.number);
  if (is_shown || age <= kOldest) return {};
  return Status(Code::not_found, "this picture is older than a minute, so nothing was learned");
}

}  // namespace

struct Live::Impl {
  Impl(const LiveOptions& options, LiveParts parts, Scorer scorer)
      : feed(opener(options)),
        look(std::move(parts.extractor), std::move(scorer), feed, board,
             {options.most_frames_per_second, options.false_alarms}),
        teach(std::move(parts.state), board,
              {options.quiet, options.hottest, options.machine_root, options.device,
               options.recogniser.state, options.mend,
               options.files != nullptr ? options.files : &real_files()}) {}

  void look_at(const ChosenView& chosen) {
    board.change_view([&](Board::View& view) {
      view.mirror = chosen.mirror;
      view.region = chosen.region;
    });
  }

  Board board;
  CameraFeed feed;
  Look look;
  Teach teach;
  std::once_flag stopped;
};

Live::Live(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Live::~Live() {
  stop();
}

const LearnerConfig& LiveParts::config() const {
  if (const auto* store = std::get_if<Store>(&state)) return store->learner().config();
  if (const auto* unread = std::get_if<UnreadState>(&state)) return unread->config;
  return std::get<ReadOnlyState>(state).config;
}

Result<LiveParts> open_live_parts(Recogniser::Options options) {
  options.batch = 1;  // for latency
  if (options.threads == 0) options.threads = std::max(1, thread_count() - 1);
  if (Store::exists(options.state)) {
    Result<Store::Reserved> reserved = Store::reserve(options.state);
    const bool can_write = reserved.ok();
    if (!can_write && reserved.status().code() != Code::io_failure) return reserved.status();
    options.access = Recogniser::Access::read;
    Result<Recogniser> reader = Recogniser::open(options);
    if (reader.ok() && can_write) {
      UnreadState state{std::move(reserved).value(), reader->config(), reader->readout()};
      return LiveParts{std::move(reader->extractor()), std::move(state)};
    }
    if (reader.ok()) {
      ReadOnlyState state{options.state, reader->config(), reader->readout(),
                          read_only(reserved.status(), options.state)};
      return LiveParts{std::move(reader->extractor()), std::move(state)};
    }
    if (!can_write) return reserved.status();
  }  // no readout yet, or there is something to tell: what follows tells it
  options.access = Recogniser::Access::write;
  ENGRAM_ASSIGN(Recogniser recogniser, Recogniser::open(options));
  return LiveParts{std::move(recogniser.extractor()), std::move(*recogniser.store())};
}

Result<std::unique_ptr<Live>> Live::start(LiveOptions options) {
  ENGRAM_ASSIGN(LiveParts parts, open_live_parts(options.recogniser));
  return start(std::move(options), std::move(parts));
}

Result<std::unique_ptr<Live>> Live::start(LiveOptions options, LiveParts parts) {
  if (!(options.most_frames_per_second > 0)) {
    return Status(Code::invalid_argument,
                  fmt::format("{} frames per second cannot be looked at; more than 0",
                              options.most_frames_per_second));
  }
  try {
    ENGRAM_ASSIGN(Scorer scorer, create_scorer(parts.config()));
    const std::string model = parts.extractor.card().name;
    std::unique_ptr<Live> live(
        new Live(std::make_unique<Impl>(options, std::move(parts), std::move(scorer))));
    Impl& impl = *live->impl_;
    impl.board.change([&](LiveState& state) {
      state.model = model;
      state.source = without_password(options.source);
      state.directory = options.recogniser.state;
    });
    impl.look_at(first_view(options, impl.board));
    impl.teach.start();
    impl.look.start();
    ENGRAM_TRY(impl.teach.wait_until_open(kOpenPatience));
    return live;
  } catch (const std::bad_alloc&) {
    return Status(Code::out_of_memory, "not enough memory for the camera app");
  } catch (const std::system_error& error) {
    return Status(
        Code::out_of_memory,
        fmt::format("the system gives no more threads ({}): close other programs", error.what()));
  }
}

std::shared_ptr<const Sight> Live::wait(std::uint64_t after,
                                        std::chrono::milliseconds patience) const {
  return impl_->board.wait(after, patience);
}

std::shared_ptr<const Sight> Live::sight() const {
  return impl_->board.sight();
}

Status Live::submit(Order order, std::function<void(const OrderResult&)> done) {
  if (order.kind == Order::Kind::learn) {
    const std::shared_ptr<const Sight> newest = sight();
    ENGRAM_TRY(check_is_of_now(order.sight.get(), newest.get(), impl_->feed.state()));
    if (order.sight == nullptr) order.sight = newest;
  }
  return impl_->teach.submit(std::move(order), std::move(done));
}

OrderResult Live::carry_out(Order order) {
  std::promise<OrderResult> done;
  const Status taken =
      submit(std::move(order), [&](const OrderResult& result) { done.set_value(result); });
  if (taken.ok()) return done.get_future().get();
  OrderResult refused;
  refused.status = taken;
  refused.said = taken.what();
  return refused;
}

void Live::pause(bool paused) {
  impl_->board.change_view([&](Board::View& view) { view.paused = paused; });
}

void Live::set_view(bool mirror, const Region& region,
                    std::function<void(const OrderResult&)> done) {
  const ChosenView view{mirror, within(region)};
  impl_->look_at(view);
  OrderResult refused;
  refused.status = impl_->teach.keep(view, done);
  if (!refused.status.ok() && done) done(refused);
}

LiveState Live::state() const {
  LiveState state = impl_->board.state();
  state.feed = impl_->feed.state();
  return state;
}

std::uint64_t Live::changes() const {
  return impl_->board.changes();
}

Heartbeats Live::heartbeats() const {
  return {impl_->look.rounds(), impl_->teach.rounds()};
}

Status Live::export_to(const std::string& file) {
  return impl_->teach.export_to(file);
}

Status Live::opened() const {
  return impl_->teach.opened();
}

void Live::stop() {
  stop_looking();
  impl_->teach.stop();
}

bool Live::stop_or_leave() {
  const Teach::Clock::time_point by = Teach::Clock::now() + kLeavePatience;
  stop_looking();
  return impl_->teach.has_ended(by);
}

void Live::stop_looking() {
  std::call_once(impl_->stopped, [this] {
    impl_->teach.ask_to_stop();
    impl_->feed.stop();
    impl_->look.stop();
    impl_->board.close();
  });
}

}  // namespace engram
