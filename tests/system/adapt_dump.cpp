// For acceptance/phase1_torch.py, which compares with PyTorch.
//   adapt_dump MODEL.onnx OUTPUT SIDE METHOD FOLDER BATCH EPOCHS THREADS
//       trains, without dropout, on FOLDER/pictures.npy (N, 3*SIDE*SIDE) and FOLDER/labels.npy (N).
//       Writes into FOLDER: features.npy at the start, and flat parameters: start.npy, end.npy,
//       gradient.npy (of the first loss over all N). Prints: slice NAME ROWS COLS OFFSET;
//       order SAMPLE... of each step; loss and seconds of each epoch.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "engine/adapt_training.h"
#include "platform/file.h"
#include "platform/threads.h"
#include "tools/convert/vit_read.h"
#include "tools/features/npy.h"

using namespace engram;

namespace {

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

struct Inputs {
  std::vector<float> pictures;  // (N, width)
  std::vector<int> labels;
  int classes = 0, width = 0;

  // `seen` is called with the samples of each request.
  template <class Seen>
  AdaptData data(Seen seen) const {
    return {.labels = labels,
            .classes = classes,
            .pictures =
                [this, seen](std::span<const int> samples, int epoch, MatrixView<float> tensors) {
                  seen(samples, epoch);
                  for (std::size_t i = 0; i < samples.size(); ++i) {
                    std::copy_n(pictures.data() + std::size_t(samples[i]) * std::size_t(width),
                                width, tensors.row(int(i)));
                  }
                  return Status();
                },
            .held_out = {}};
  }
};

Result<Inputs> read_inputs(const std::string& folder) {
  constexpr std::size_t kLimit = std::size_t{1} << 32;
  Inputs inputs;
  ENGRAM_ASSIGN(const auto pictures, read_file(folder + "/pictures.npy", kLimit));
  ENGRAM_ASSIGN(const auto picture_view, NpyView::parse(pictures, "pictures.npy"));
  ENGRAM_ASSIGN(inputs.pictures, picture_view.floats());
  inputs.width = int(picture_view.shape().back());
  ENGRAM_ASSIGN(const auto labels, read_file(folder + "/labels.npy", kLimit));
  ENGRAM_ASSIGN(const auto label_view, NpyView::parse(labels, "labels.npy"));
  ENGRAM_ASSIGN(const auto whole, label_view.whole_numbers());
  inputs.labels.assign(whole.begin(), whole.end());
  for (const int label : inputs.labels) inputs.classes = std::max(inputs.classes, label + 1);
  return inputs;
}

Status write_flat(const std::string& path, const BufferVector<float>& values) {
  return write_npy(path, {values.data(), 1, int(values.size()), int(values.size())});
}

// One step of plain SGD over all samples, so long that the parameters are forgotten beside it.
Status write_gradient(const VitModel& model, AdaptSettings settings, const Inputs& inputs,
                      const std::string& path) {
  constexpr double kFar = 512;
  settings.epochs = 1;
  settings.batch = int(inputs.labels.size());
  settings.learning_rate = kFar;
  settings.momentum = settings.weight_decay = 0;
  ENGRAM_ASSIGN(auto training,
                AdaptTraining::create(model, settings, inputs.data([](auto, int) {}), kNoLimit));
  BufferVector<float> gradient = training.parameters().values;
  ENGRAM_TRY(training.epoch());
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    gradient[i] = float((double(gradient[i]) - training.parameters().values[i]) / kFar);
  }
  return write_flat(path, gradient);
}

Status run(char** arguments) {
  const std::string onnx = arguments[0], output = arguments[1], folder = arguments[4];
  ENGRAM_ASSIGN(const MappedFile file, MappedFile::open(onnx));
  ENGRAM_ASSIGN(const VitModel model,
                read_vit(file.bytes(), onnx, output, std::atoi(arguments[2])));
  ENGRAM_ASSIGN(const Inputs inputs, read_inputs(folder));
  AdaptSettings settings{.epochs = std::atoi(arguments[6]), .batch = std::atoi(arguments[5])};
  ENGRAM_ASSIGN(settings.method, parse_adapt_method(arguments[3]));
  settings.dropout = 0;
  settings.start_noise = 0.02;
  settings.head_start = HeadStart::random;
  set_thread_count(std::atoi(arguments[7]));
  ENGRAM_TRY(write_gradient(model, settings, inputs, folder + "/gradient.npy"));
  const auto print_order = [](std::span<const int> samples, int epoch) {
    if (epoch < 0) return;
    std::printf("order");
    for (const int sample : samples) std::printf(" %d", sample);
    std::printf("\n");
  };
  ENGRAM_ASSIGN(auto training,
                AdaptTraining::create(model, settings, inputs.data(print_order), kNoLimit));
  const AdaptParameters start = training.parameters();
  for (const AdaptSlice& slice : start.slices) {
    std::printf("slice %s %d %d %zu\n", slice.name.c_str(), slice.rows, slice.cols, slice.offset);
  }
  ENGRAM_TRY(write_flat(folder + "/start.npy", start.values));
  const int rows = int(inputs.labels.size()), length = model.shape.features;
  std::vector<float> features(std::size_t(rows) * std::size_t(length));
  ENGRAM_TRY(training.features({inputs.pictures.data(), rows, inputs.width, inputs.width},
                               {features.data(), rows, length, length}));
  ENGRAM_TRY(write_npy(folder + "/features.npy", {features.data(), rows, length, length}));
  while (!training.done()) ENGRAM_TRY(training.epoch());
  ENGRAM_TRY(write_flat(folder + "/end.npy", training.parameters().values));
  for (const AdaptEpoch& epoch : training.curves()) {
    std::printf("loss %.9g\nseconds %.6f\n", epoch.loss, epoch.seconds);
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const Status done =
      argc == 9 ? run(argv + 1) : Status(Code::invalid_argument, "see the top of adapt_dump.cpp");
  if (!done.ok()) std::fprintf(stderr, "%s\n", done.what());
  return done.ok() ? 0 : 1;
}
