// The models on this machine: HOME/models/<name>/{model.onnx, card.json}.
#pragma once

#include <string>
#include <vector>

#include "engine/model_card.h"
#include "platform/file.h"
#include "platform/status.h"

namespace engram {

// $ENGRAM_HOME, else $XDG_DATA_HOME/engram, else $HOME/.local/share/engram; empty: none is set.
std::string default_home();

struct StoredModel {
  ModelCard card;
  std::string onnx;     // path
  std::string problem;  // list() only: empty, or a sentence that says why it cannot be used
};

class ModelStore {
 public:
  explicit ModelStore(std::string home = default_home(), FileSystem& files = real_files())
      : home_(std::move(home)), files_(&files) {}
  // not_found: no such model, with the command that adds it. bad_data: file and card disagree.
  // Reads the whole file to compare its hash: a damaged model never gives features.
  Result<StoredModel> find(const std::string& name) const;
  // By name. Cards are read, files are not hashed; a broken entry is listed with its problem.
  Result<std::vector<StoredModel>> list() const;
  // Copies the file in and writes the card, both durable, all or nothing. Replaces a model of that
  // name only if `replace`. After a failure the message says whether the old one is there or the
  // new one.
  Status add(const std::string& onnx, const ModelCard& card, bool replace) const;
  // May be repeated after a failure.
  Status remove(const std::string& name) const;
  std::string directory() const { return home_ + "/models"; }

 private:
  Result<StoredModel> read(const std::string& name) const;
  Status put_in_place(const std::string& made, const std::string& name) const;
  Status remove_leftovers(const std::string& name) const;

  std::string home_;
  FileSystem* files_;
};

}  // namespace engram
