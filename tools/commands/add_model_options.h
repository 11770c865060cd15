// Options of `engram model add`, and adding a model with a progress line (the demo does so too).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "platform/status.h"
#include "tools/convert/add_model.h"
#include "tools/session.h"

namespace engram {

struct AddModelOptions {
  AddModelRequest request;
  std::string pool = "none";
  std::string mode, filter, order;
  std::vector<float> mean, std;
  int resize = 0, crop = 0;  // 0: not given
};
Manual add_model_manual();
void add_model_options(CLI::App& command, AddModelOptions& options);
Result<AddModelRequest> make_request(const AddModelOptions& options, const GlobalOptions& global);

Result<ModelCard> add_model_with_progress(const AddModelRequest& request, const Console& console);

}  // namespace engram
