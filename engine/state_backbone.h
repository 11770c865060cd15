// Which backbone a state was made with. A file alone does not tell: the same ONNX file gives other
// features where pictures are prepared otherwise or another of its tensors is taken.
#pragma once

#include <cstdint>
#include <string>

#include "engine/config.h"
#include "engine/model_card.h"
#include "engine/model_store.h"
#include "platform/status.h"

namespace engram {

// LearnerConfig::backbone: the file's sha256, a plus, and 16 digits of everything else in the card
// that shapes features. The scales are not among them, for a state keeps its own. States of earlier
// versions have the sha256 alone.
std::string backbone_of(const ModelCard& card);

// Whether features of both may be added up. A name without digits of the card goes with all of its
// file.
bool same_backbone(const std::string& a, const std::string& b);

// How surely a model is the one that a state was made with.
enum class BackboneFit : std::uint8_t {
  none,   // it is not
  file,   // the state tells no more than file and number of features, and both agree
  scale,  // and so do the scales
  whole,
};
BackboneFit fit_of(const ModelCard& card, const LearnerConfig& config);

// What a learner on this backbone is made of: `config` with the fields that the card settles.
LearnerConfig config_for(const ModelCard& card, LearnerConfig config);

// The stored model `name` for a state of this config; empty: the one that fits best. `state` is its
// name in messages. invalid_argument: its features do not mix with the state's, or another model fits
// better. not_found: none fits; models that are there and cannot be used are named.
Result<StoredModel> find_backbone(const ModelStore& models, const LearnerConfig& config,
                                  const std::string& name, const std::string& state);

}  // namespace engram
