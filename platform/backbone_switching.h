// A backbone that answers from the first frame on: the CPU's until a faster one is ready, and again
// when that one fails. Nobody waits, and nobody's frame is lost.
//
// The faster one is made by another thread. Before its first answer is believed, one picture is
// computed by both: if their features differ by more than rounding does, the CPU goes on.
//
// Bits. A faster backbone in half precision gives other bits than the CPU: of the quantised features
// some differ by a step (`engram model half` counts them). What is learned stays exact from these
// bytes on: any order, any batch, undo and merge. But the same photo taught on the CPU and on the GPU
// is not the same sample to the bit, and two states are equal to the bit only if the same kind of
// backbone saw the photos.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "platform/backbone.h"
#include "platform/engine_build.h"
#include "platform/engine_state.h"
#include "platform/status.h"

namespace engram {

class SwitchingBackbone final : public Backbone {
 public:
  // Makes the faster one; to be given up when `stop` becomes true. If it has to be built first, it
  // says how far that is.
  using Prepare = std::function<Result<std::unique_ptr<Backbone>>(const std::atomic<bool>& stop,
                                                                  const OnBuild& on_build)>;
  SwitchingBackbone(std::unique_ptr<Backbone> cpu, Prepare prepare);
  ~SwitchingBackbone() override;  // gives up what is being prepared

  int input_values() const override { return cpu_->input_values(); }
  int features() const override { return cpu_->features(); }
  int max_batch() const override { return cpu_->max_batch(); }
  // Any failure of the faster one: the CPU computes the same pictures, and all later ones.
  Status run(MatrixView<const float> inputs, MatrixView<float> features) override;

  enum class Answers { cpu_meanwhile, cpu_for_good, faster };
  Answers answers() const;
  std::string note() const;   // why the CPU answers for good; empty: it does not
  EngineState state() const;  // all of that, and how far the building is; no device
  void wait();                // until the faster one is ready or given up

 private:
  void prepare_here(const Prepare& prepare);
  void give_up(const std::string& why);
  Status compare(MatrixView<const float> inputs);

  std::unique_ptr<Backbone> cpu_;
  mutable std::mutex guard_;           // of the next four
  std::unique_ptr<Backbone> arrived_;  // from the other thread
  Answers answers_ = Answers::cpu_meanwhile;
  std::string note_;
  std::optional<BuildState> build_;   // the last that was told
  std::unique_ptr<Backbone> faster_;  // of the thread that calls run()
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace engram
