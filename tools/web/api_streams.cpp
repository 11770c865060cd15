#include "tools/web/api_streams.h"

#include <chrono>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "platform/version.h"
#include "tools/console/console.h"
#include "tools/web/api_json.h"

namespace engram {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t kTold = 600;     // sights that a learn may still name: a minute, 3 MB
constexpr int kMostPictureSide = 960;  // larger pictures are halved: the page is no wider
constexpr int kQuality = 80;
constexpr char kBoundary[] = "--frame\r\n";

// Halves both sides; each pixel is the mean of four.
Image halved(const Image& image) {
  Image half{image.width / 2, image.height / 2, {}};
  half.rgb.resize(std::size_t(half.width) * half.height * 3);
  const std::size_t row = std::size_t(image.width) * 3;
  std::size_t to = 0;
  for (int y = 0; y < half.height; ++y) {
    const std::uint8_t* from = image.rgb.data() + 2 * y * row;
    for (int x = 0; x < half.width; ++x, from += 6) {
      for (int channel = 0; channel < 3; ++channel) {
        const std::uint8_t* corner = from + channel;
        half.rgb[to++] =
            std::uint8_t((corner[0] + corner[3] + corner[row] + corner[row + 3] + 2) / 4);
      }
    }
  }
  return half;
}

std::string jpeg(const Image& image) {
  Image smaller;
  const Image* shown = &image;
  while (shown->width > kMostPictureSide && shown->height > 1) {
    smaller = halved(*shown);
    shown = &smaller;
  }
  std::vector<std::byte> file;
  if (!encode_jpeg(*shown, kQuality, file).ok()) return {};
  return std::string(reinterpret_cast<const char*>(file.data()), file.size());
}

std::string event(const char* name, const std::string& data) {
  return fmt::format("event: {}\ndata: {}\n\n", name, data);
}

std::string rates(const LiveState& state) {
  return json_text({{"frames", state.feed.frames},
                    {"frames_per_second", state.feed.frames_per_second},
                    {"looks_per_second", state.looks_per_second},
                    {"backbone_ms", state.backbone_ms},
                    {"head_ms", state.head_ms},
                    {"resident_bytes", state.resident_bytes},
                    {"temperature", state.temperature}});
}

}  // namespace

std::string Broadcast::state() const {
  // Before the copy: what changes after it is asked for again.
  nlohmann::ordered_json all = {{"version", version()}, {"changes", live_.changes()}};
  all.update(engram::to_json(live_.state()));
  return json_text(all);
}

const std::string& Broadcast::latest_state() {
  const std::uint64_t changes = live_.changes();
  if (state_.empty() || changes != state_changes_) {
    state_ = state();
    state_changes_ = changes;
  }
  return state_;
}

HttpStream Broadcast::events() {
  struct Watcher {
    bool greeted = false;
    std::uint64_t changes = 0, frame = 0;
    Clock::time_point rates{};
  };
  const auto next = [this, watcher = Watcher{}]() mutable -> std::optional<std::string> {
    std::string piece;
    if (const auto changes = live_.changes(); !watcher.greeted || changes != watcher.changes) {
      piece += event("state", latest_state());
      watcher.greeted = true;
      watcher.changes = state_changes_;
    }
    if (const auto sight = live_.sight(); sight && sight->frame.number != watcher.frame) {
      remember(*sight);
      watcher.frame = sight->frame.number;
      piece += event("sight", json_text(engram::to_json(*sight)));
    }
    if (const auto now = Clock::now(); now - watcher.rates >= milliseconds(1000)) {
      piece += event("rates", rates(live_.state()));
      watcher.rates = now;
    }
    return piece;
  };
  return {"text/event-stream", milliseconds(100), next, {{"Cache-Control", "no-store"}}};
}

HttpStream Broadcast::video() {
  const auto next = [this, shown = std::uint64_t(0)]() mutable -> std::optional<std::string> {
    const auto sight = live_.sight();
    if (!sight || sight->frame.number == shown) return "";
    const std::string& file = picture(*sight);
    if (file.empty()) return "";
    // The boundary that follows a picture is sent with it: browsers show a picture when they see that.
    std::string piece = shown == 0 ? kBoundary : "";
    piece += fmt::format("Content-Type: image/jpeg\r\nContent-Length: {}\r\n\r\n", file.size());
    piece += file;
    piece += "\r\n";
    piece += kBoundary;
    shown = sight->frame.number;
    return piece;
  };
  return {"multipart/x-mixed-replace; boundary=frame",
          milliseconds(20),
          next,
          {{"Cache-Control", "no-store"}}};
}

HttpResponse Broadcast::frame() {
  const auto sight = live_.sight();
  if (!sight) return error_response(503, "busy", "There is no picture yet; ask again.");
  HttpResponse response;
  response.body = picture(*sight);
  if (response.body.empty()) {
    return error_response(500, "internal", "The picture could not be encoded; ask for the next.");
  }
  remember(*sight);
  response.type = "image/jpeg";
  response.headers = {{"Cache-Control", "no-store"},
                      {"X-Frame", fmt::format("{}", sight->frame.number)}};
  return response;
}

std::shared_ptr<const Sight> Broadcast::told(std::uint64_t frame) const {
  for (const auto& sight : told_) {
    if (sight->frame.number == frame) return sight;
  }
  return nullptr;
}

void Broadcast::remember(const Sight& sight) {
  if (!told_.empty() && told_.back()->frame.number >= sight.frame.number) return;
  auto kept = std::make_shared<Sight>(sight);
  kept->frame.picture = nullptr;  // to learn it, its features do
  told_.push_back(std::move(kept));
  if (told_.size() > kTold) told_.pop_front();
}

const std::string& Broadcast::picture(const Sight& sight) {
  if (picture_frame_ != sight.frame.number || picture_.empty()) {
    picture_ = sight.frame.picture ? jpeg(sight.frame.picture->rgb()) : "";
    picture_frame_ = sight.frame.number;
  }
  return picture_;
}

}  // namespace engram
