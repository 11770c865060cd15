#include "tools/bundle/bundle_build.h"

#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "engine/byte_io.h"
#include "engine/model_store.h"
#include "engine/state_backbone.h"
#include "engine/state_file.h"
#include "platform/file.h"
#include "tools/bundle/bundle_keys.h"
#include "tools/bundle/debian_package.h"
#include "tools/convert/scratch_folder.h"
#include "tools/open_model.h"
#include "tools/settings_file.h"

namespace engram {

namespace {

// Where a text that goes with the bundle is until it is written.
Result<std::string> note(const ScratchFolder& folder, const char* file, const std::string& text) {
  const std::string path = folder.path() + "/" + file;
  ENGRAM_TRY(replace_file(path, as_bytes(text)));
  return path;
}

std::string licences(const ModelCard* card) {
  std::string text =
      "What is in this bundle, and under which licence\n\n"
      "engram.deb   Engram: Apache-2.0. It has the texts of all licences, also those of the\n"
      "             libraries in it, which it installs as /usr/share/doc/engram.\n";
  if (card != nullptr) {
    text += fmt::format("model.onnx   {}: {}. From: {}\n", card->name, card->licence, card->source);
  }
  return text;
}

Result<std::string> state_file(const BundleRequest& request, const ScratchFolder& folder) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(request.state, ignored)) return request.state;
  const std::string path = folder.path() + "/state.engram";
  ENGRAM_TRY(export_state(request.state, path, ""));
  return path;
}

Result<StoredModel> find_model(const BundleRequest& request,
                               const std::optional<LearnerConfig>& config) {
  const ModelStore store(request.home);
  if (config) return find_backbone(store, *config, request.model, request.state);
  return store.find(request.model.empty() ? kDefaultModel : request.model);
}

// What a person fetched for one machine does not travel in a file of ours.
Status may_be_handed_on(const ModelCard& card) {
  if (card.redistributable) return {};
  return Status(
      Code::invalid_argument,
      fmt::format("the model \"{}\" may not be handed on ({}). No bundle was made. Make one with "
                  "--without-model, and fetch the model on the device itself: engram model add",
                  card.name, card.source));
}

}  // namespace

Result<BundleHead> build_bundle(const BundleRequest& request) {
  ENGRAM_ASSIGN(const Secret secret, read_signing_key(request.home));
  ENGRAM_ASSIGN(const DebianPackage package, read_package(request.package));
  ENGRAM_TRY(fits(package, request.target, request.package));
  ENGRAM_ASSIGN(const ScratchFolder folder, ScratchFolder::make());
  std::vector<BundleSource> sources{{BundleMember::package, request.package}};

  std::string state;
  std::optional<LearnerConfig> config;
  if (!request.state.empty()) {
    ENGRAM_ASSIGN(state, state_file(request, folder));
    ENGRAM_ASSIGN(const AddedState added, read_state_file(state));
    config = added.learner.config();
  }
  StoredModel model;
  if (!request.without_model) {
    ENGRAM_ASSIGN(model, find_model(request, config));
    ENGRAM_TRY(may_be_handed_on(model.card));
    sources.push_back({BundleMember::model, model.onnx});
    ENGRAM_ASSIGN(const std::string card, note(folder, "card.json", to_json(model.card)));
    sources.push_back({BundleMember::card, card});
  }
  if (!state.empty()) sources.push_back({BundleMember::state, state});
  if (!request.settings.empty()) {
    ENGRAM_TRY(read_settings(request.settings).status());
    sources.push_back({BundleMember::settings, request.settings});
  }
  ENGRAM_ASSIGN(
      const std::string words,
      note(folder, "licences.txt", licences(request.without_model ? nullptr : &model.card)));
  sources.push_back({BundleMember::licences, words});
  return write_bundle(sources, request.target, secret, request.to);
}

}  // namespace engram
