// From trained parameters to a model of its own in the store.
//
//     ONNX (tools/convert/vit_write.h) > OpenVINO's features against our forward's, on pictures >
//     feature scale > nearest class means on the pictures held out > card
//
// Nothing is stored before all of it has succeeded, and then whole (ModelStore::add).
#pragma once

#include <string>

#include "engine/model_card.h"
#include "platform/status.h"
#include "tools/adapt/adapt_run.h"
#include "tools/console/console.h"
#include "tools/convert/scratch_folder.h"

namespace engram {

struct AdaptedModel {
  StoredModel stored;  // in the scratch folder
  RightAnswers after;
  double difference = 0;  // the largest, of the pictures tried: |ours - OpenVINO's| / |ours|
  bool is_added = false;  // to the store; else the backbone stays frozen
};

// "dinov2-vits14-ssf"; invalid_argument: no name for a model can be made of it.
Result<std::string> adapted_name(const std::string& parent, AdaptMethod method,
                                 const std::string& as_name);
// "ssf, 20 epochs, 10 classes, 300 pictures, seed 1"
std::string adapted_text(const AdaptRun& run);

// Of the best epoch's parameters. internal: the file does not give the features that were trained.
Result<AdaptedModel> make_adapted_model(const AdaptRun& run, const std::string& name,
                                        const ScratchFolder& folder, const Console& console);

}  // namespace engram
