// How pictures become the input of an ONNX file: presets, and what the user says otherwise.
#pragma once

#include "kernels/preprocess.h"
#include "platform/status.h"
#include "tools/convert/add_model.h"
#include "tools/convert/onnx_check.h"

namespace engram {

bool chooses_preprocess(const AddModelRequest& request);

// The preset, fitted to the model's input size, with the request's own values over it.
Result<PreprocessSpec> choose_preprocess(const AddModelRequest& request,
                                         const OnnxSummary& summary);

}  // namespace engram
