// The models on this machine: HOME/models/<name>/{model.onnx, card.json}.
#pragma once

#include <string>
#include <vector>

#include "engine/model_card.h"
#include "platform/status.h"

namespace engram {

// $ENGRAM_HOME, else $XDG_DATA_HOME/engram, else ~/.local/share/engram.
std::string default_home();

struct StoredModel {
  ModelCard card;
  std::string onnx;  // path
};

class ModelStore {
 public:
  explicit ModelStore(std::string home = default_home()) : home_(std::move(home)) {}
  // not_found: no such model, with the command that adds it. bad_data: file and card disagree.
  Result<StoredModel> find(const std::string& name) const;
  Result<StoredModel> find_by_hash(const std::string& sha256) const;
  Result<std::vector<StoredModel>> list() const;
  // Copies the file in and writes the card, both durable, all or nothing. Replaces a model of that
  // name only if `replace`.
  Status add(const std::string& onnx, const ModelCard& card, bool replace) const;
  Status remove(const std::string& name) const;

 private:
  std::string home_;
};

}  // namespace engram
