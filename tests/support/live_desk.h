// A desk for the camera app: a camera that shows what the test says, a backbone that sees colours, a
// state in a folder of its own. Nothing of it needs OpenVINO, so it runs under sanitizers too.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/fault_files.h"
#include "tests/support/temp_directory.h"
#include "tools/live/live.h"

namespace engram::test {

using Colour = std::array<int, 3>;
inline const Colour kRed{200, 20, 20}, kGreen{20, 200, 20}, kBlue{20, 20, 200};

// Mean and maximum of each channel.
class ColourBackbone final : public Backbone {
 public:
  static constexpr int kSide = 8;
  int input_values() const override { return 3 * kSide * kSide; }
  int features() const override { return 6; }
  int max_batch() const override { return 1; }
  Status run(MatrixView<const float> inputs, MatrixView<float> features) override {
    for (int row = 0; row < inputs.rows; ++row) {
      for (int channel = 0; channel < 3; ++channel) {
        const float* values = inputs.row(row) + channel * kSide * kSide;
        float sum = 0, most = 0;
        for (int i = 0; i < kSide * kSide; ++i) {
          sum += values[i];
          most = std::max(most, values[i]);
        }
        features.row(row)[channel] = sum / (kSide * kSide);
        features.row(row)[3 + channel] = most;
      }
    }
    return {};
  }
};

// What stands before the camera: a colour on its left half, one on its right; or nothing works.
class Scene {
 public:
  void show(Colour left, Colour right) {
    const std::lock_guard lock(mutex_);
    left_ = left;
    right_ = right;
    is_lost_ = false;
  }
  void show(Colour colour) { show(colour, colour); }
  // From now on as most cameras give their pictures.
  void become_nv12() {
    const std::lock_guard lock(mutex_);
    is_nv12_ = true;
  }
  void lose() {
    const std::lock_guard lock(mutex_);
    is_lost_ = true;
  }
  Result<CameraPicture> picture() const {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const std::lock_guard lock(mutex_);
    if (is_lost_) return Status(Code::io_failure, "somebody pulled the plug");
    if (is_nv12_) return nv12_picture();
    Image picture{16, 16, {}};
    for (int pixel = 0; pixel < 16 * 16; ++pixel) {
      const Colour& colour = pixel % 16 < 8 ? left_ : right_;
      for (const int value : colour) picture.rgb.push_back(static_cast<std::uint8_t>(value));
    }
    return CameraPicture(std::move(picture));
  }

 private:
  CameraPicture nv12_picture() const {
    std::vector<std::uint8_t> luma(16 * 16), chroma(8 * 16);
    const auto byte = [](double value) { return std::uint8_t(std::lround(value)); };
    for (std::size_t pixel = 0; pixel < luma.size(); ++pixel) {
      const Colour& colour = pixel % 16 < 8 ? left_ : right_;
      const double y = 0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2];
      luma[pixel] = byte(y);
      if (pixel >= chroma.size()) continue;
      chroma[pixel] =
          byte(128 + (pixel % 2 == 0 ? (colour[2] - y) / 1.772 : (colour[0] - y) / 1.402));
    }
    return CameraPicture::copy_of(
        {{luma.data(), 16, 16, 16}, {chroma.data(), 8, 16, 16}, kBt601Full});
  }

  mutable std::mutex mutex_;
  Colour left_ = kRed, right_ = kRed;
  bool is_lost_ = false, is_nv12_ = false;
};

class LiveDesk {
 public:
  // A disk that is full from the moment it is told so.
  class Files : public UnsyncedFiles {
   public:
    std::atomic<bool> is_full{false};
    ssize_t pwrite(int file, const void* bytes, std::size_t count, off_t offset) override {
      if (!is_full) return UnsyncedFiles::pwrite(file, bytes, count, offset);
      errno = ENOSPC;
      return -1;
    }
  };

  LiveOptions options() {
    LiveOptions options;
    options.quiet = std::chrono::milliseconds(20);
    options.most_frames_per_second = 1000;
    options.recogniser.state = state();
    options.mend = std::chrono::milliseconds(5);
    options.files = &files;
    options.open_source = [scene = scene]() -> Result<std::unique_ptr<Camera>> {
      ENGRAM_ASSIGN(const CameraPicture ignored, scene->picture());
      return std::unique_ptr<Camera>(std::make_unique<SceneCamera>(scene));
    };
    return options;
  }
  std::unique_ptr<Live> start(LiveOptions options) {
    LearnerConfig config;
    config.hidden = 200;
    Result<Store> store = Store::exists(state())
                              ? Store::open(state(), files)
                              : Store::create(state(), config_for(colours(), config), files);
    auto live = Live::start(std::move(options), {extractor(), std::move(store).value()});
    return std::move(live).value();
  }
  // The same from a state that is not read yet: its readout answers meanwhile.
  Result<std::unique_ptr<Live>> start_unread() {
    StoredReadout stored = read_readout(state()).value();
    return Live::start(
        options(),
        {extractor(), UnreadState{Store::reserve(state()).value(), stored.config,
                                  std::make_shared<const Readout>(std::move(stored.readout))}});
  }
  // The same where nobody can write to it.
  std::unique_ptr<Live> start_read_only(const Status& why) {
    StoredReadout stored = read_readout(state()).value();
    auto readout = std::make_shared<const Readout>(std::move(stored.readout));
    return Live::start(options(),
                       {extractor(), ReadOnlyState{state(), stored.config, readout, why}})
        .value();
  }
  static ModelCard colours() {
    ModelCard card;
    card.name = "colours";
    card.sha256 = std::string(64, 'c');
    card.preprocess.resize = card.preprocess.crop = ColourBackbone::kSide;
    card.preprocess.std = {255, 255, 255};
    card.features = 6;
    card.feature_scale = 32;
    card.hidden_mul = 1 << 12;
    return card;
  }
  static FeatureExtractor extractor() {
    return FeatureExtractor::create(colours(), std::make_unique<ColourBackbone>()).value();
  }
  std::unique_ptr<Live> start() { return start(options()); }
  std::string state() const { return folder / "state"; }
  // What a program that comes later finds on the disk.
  std::vector<ClassInfo> on_disk() {
    return Store::open(state(), files).value().learner().classes();
  }

  // Samples there, while somebody still has the state open.
  std::int64_t on_disk_unlocked() { return verify_store(state()).value().samples; }

  TempDirectory folder;
  Files files;
  std::shared_ptr<Scene> scene = std::make_shared<Scene>();

 private:
  class SceneCamera final : public Camera {
   public:
    explicit SceneCamera(std::shared_ptr<const Scene> scene) : scene_(std::move(scene)) {}
    Result<CameraPicture> next() override { return scene_->picture(); }

   private:
    std::shared_ptr<const Scene> scene_;
  };
};

// The order to learn what the camera sees, or saw when the key went down.
inline Order learn(const std::string& label, std::shared_ptr<const Sight> sight = nullptr) {
  Order order;
  order.label = label;
  order.sight = std::move(sight);
  return order;
}

// Looks again and again until `there` holds of a sight; null after far too long.
template <class There>
std::shared_ptr<const Sight> see(const Live& live, There there) {
  std::uint64_t after = 0;
  for (int look = 0; look < 20'000; ++look) {
    const auto sight = live.wait(after, std::chrono::milliseconds(1000));
    if (sight == nullptr) continue;
    after = sight->frame.number;
    if (there(*sight)) return sight;
  }
  return nullptr;
}

inline bool shows(const Sight& sight, Colour colour) {
  const Image& picture = sight.frame.picture->rgb();
  return std::equal(colour.begin(), colour.end(), picture.rgb.begin(), [](int wanted, int seen) {
    return std::abs(wanted - seen) <= 2;
  });  // NV12 rounds
}

inline bool eventually(const std::function<bool()>& holds, int looks = 10'000) {
  for (int look = 0; look < looks; ++look) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

}  // namespace engram::test
