// How a backbone is adapted to the first task (RanPAC's Phase 1): the method and its settings.
//
//     adaptformer   a bottleneck of `rank` beside the MLP of each block
//     ssf           a scale and a shift of each channel after every operation
//     vpt           `prompts` learned tokens in the sequence of each block
//
// The defaults are the authors' but for start_noise. Engine, command and saved training state share this one struct.
#pragma once

#include <cstdint>
#include <string>

#include "engine/vit_model.h"
#include "platform/status.h"

namespace engram {

enum class AdaptMethod : std::uint8_t { adaptformer, ssf, vpt };
const char* name(AdaptMethod method);

// Where the class vectors of the head begin, which trains along and is thrown away.
enum class HeadStart : std::uint8_t {
  random,  // the authors': sigma 1
  means,   // class means of the features, sigma head_scale: what is right already changes little
};
const char* name(HeadStart start);
Result<HeadStart> parse_head_start(const std::string& text);
Result<AdaptMethod> parse_adapt_method(const std::string& text);

struct AdaptSettings {
  AdaptMethod method = AdaptMethod::adaptformer;
  int epochs = 20;
  int batch = 48;               // pictures of one step
  int micro_batch = 0;          // pictures computed at once; 0: as the plan says
  int rank = 64;                // adaptformer
  int prompts = 5;              // vpt
  double learning_rate = 0.01;  // falls to zero by a cosine, epoch by epoch
  double momentum = 0.9;
  double weight_decay = 5e-4;  // of everything that trains
  double branch_scale = 0.1;   // adaptformer: of what the bottleneck adds
  double dropout = 0.1;        // adaptformer: in the bottleneck, while training
  // ssf: deviation of scales and shifts at the start. The authors' 0.02 suits their ViT; DINOv2, whose
  // activations are smaller, loses more by it than a small first task brings
  // (tests/acceptance/README.md).
  double start_noise = 0;
  HeadStart head_start = HeadStart::means;
  double head_scale = 10;      // sigma where the head begins at means
  std::uint64_t seed = 1;      // of start, order and dropout
  int recomputed_blocks = -1;  // that keep their input alone for the backward; -1: as the plan says
};

// invalid_argument: which setting is out of range, and what it may be.
Status check_adapt_settings(const AdaptSettings& settings, const VitShape& shape);

// Learning rate of epoch `epoch` = 0, 1, ...: rate (1 + cos(pi epoch / epochs)) / 2.
double learning_rate_at(const AdaptSettings& settings, int epoch);

}  // namespace engram
