#include "tools/live/live.h"

#include <algorithm>
#include <future>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "engine/scorer.h"
#include "platform/camera_uri.h"
#include "platform/threads.h"
#include "tools/live/board.h"
#include "tools/live/look.h"
#include "tools/live/teach.h"

namespace engram {
namespace {

CameraFeed::Open opener(const LiveOptions& options) {
  if (options.open_source) return options.open_source;
  return [source = options.source] { return open_camera(source); };
}

}  // namespace

struct Live::Impl {
  Impl(const LiveOptions& options, LiveParts parts, Scorer scorer)
      : feed(opener(options)),
        look(std::move(parts.extractor), std::move(scorer), feed, board,
             {options.most_frames_per_second, options.false_alarms}),
        teach(std::move(parts.state), board,
              {options.quiet, options.hottest, options.machine_root, options.device}) {}

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
  return std::get<UnreadState>(state).config;
}

Result<LiveParts> open_live_parts(Recogniser::Options options) {
  options.batch = 1;  // for latency
  if (options.threads == 0) options.threads = std::max(1, thread_count() - 1);
  if (Store::exists(options.state)) {
    ENGRAM_ASSIGN(Store::Reserved reserved, Store::reserve(options.state));
    options.access = Recogniser::Access::read;
    if (Result<Recogniser> reader = Recogniser::open(options); reader.ok()) {
      UnreadState state{std::move(reserved), reader->config(), reader->readout()};
      return LiveParts{std::move(reader->extractor()), std::move(state)};
    }
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
    ENGRAM_ASSIGN(Scorer scorer, Scorer::create(parts.config()));
    const std::string model = parts.extractor.card().name;
    std::unique_ptr<Live> live(
        new Live(std::make_unique<Impl>(options, std::move(parts), std::move(scorer))));
    Impl& impl = *live->impl_;
    impl.board.change([&](LiveState& state) {
      state.model = model;
      state.source = without_password(options.source);
      state.directory = options.recogniser.state;
    });
    live->set_view(options.mirror, options.region);
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
  if (order.kind == Order::Kind::learn && order.sight == nullptr) {
    const FeedState feed = impl_->feed.state();
    if (feed.kind == FeedState::Kind::lost) {
      return Status(
          Code::not_found,
          fmt::format("the camera shows nothing now ({}), so nothing was learned", feed.why));
    }
    order.sight = sight();
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

void Live::set_view(bool mirror, const Region& region) {
  impl_->board.change_view([&](Board::View& view) {
    view.mirror = mirror;
    view.region = within(region);
  });
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
