// Lambda without tasks (RanPAC, appendix F.8): the newest samples wait in a queue.
//
// The oldest sample of a full queue goes into G and C. When answers are wanted, each lambda of the
// grid is judged by the mean squared error of its readout on the queue, which the readout has not
// seen; then the whole queue is learned and the readout is solved with the best of them. A queue
// with nothing before it (or nothing in it) cannot judge: the learner's own rule decides.
#pragma once

#include <deque>
#include <utility>

#include "engine/protocol_head.h"

namespace engram {

class QueueHead : public ProtocolHead {
 public:
  // length: samples that wait at most, >= 1.
  QueueHead(Learner learner, int length) : learner_(std::move(learner)), length_(length) {}

  Status learn(MatrixView<const float> features, std::span<const std::string> labels) override;
  Result<ReadoutReport> end_task() override;
  Status classify(MatrixView<const float> features, std::span<Prediction> predictions) override {
    return learner_.classify(features, predictions);
  }
  std::vector<ClassInfo> classes() const override { return learner_.classes(); }

 private:
  struct Waiting {
    std::vector<float> features;
    std::string label;
  };
  Status learn_oldest(std::size_t count);
  Result<double> loss(double lambda);

  Learner learner_;
  int length_;
  std::deque<Waiting> queue_;
};

}  // namespace engram
