#include "tools/bundle/bundle_judge.h"

#include <unistd.h>

#include <fmt/format.h>

#include "engine/byte_io.h"
#include "engine/model_store.h"
#include "engine/state_backbone.h"
#include "engine/state_file.h"
#include "platform/file.h"
#include "tools/console/terminal.h"
#include "tools/convert/model_trial.h"
#include "tools/convert/onnx_check.h"
#include "tools/service/service_files.h"
#include "tools/settings_file.h"

namespace engram {

namespace {

bool is_there(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

Result<DevicePlaces> find_places(const std::string& root, const std::string& bundle_settings) {
  const ServicePlaces service{.root = root, .program = {}};
  DevicePlaces places{.home = service.state(), .state = {}, .settings = service.config()};
  const std::string file = is_there(places.settings) ? places.settings : bundle_settings;
  if (!file.empty()) {
    ENGRAM_ASSIGN(const std::vector<Setting> settings, read_settings(file));
    for (const Setting& setting : settings) {
      if (setting.key == "home") places.home = root + setting.value;
      if (setting.key == "state") places.state = root + setting.value;
    }
  }
  if (places.state.empty()) places.state = places.home + "/state/default";
  return places;
}

// As `engram model add` does with a stranger's file. True: the device has this very model.
Result<bool> judge_model(const ModelCard& card, const std::string& file, const std::string& home) {
  ENGRAM_ASSIGN(const std::string digest, sha256_of_file(file));
  if (digest != card.sha256) {
    return Status(Code::bad_data,
                  "model.onnx and card.json of the bundle do not belong together. "
                  "Nothing was changed");
  }
  const Result<StoredModel> found = ModelStore(home).find(card.name);
  if (found.ok() && to_json(found.value().card) == to_json(card)) return true;
  if (found.ok()) {
    return Status(
        Code::invalid_argument,
        fmt::format("{}: there is another model called {}; what was learned with it needs "
                    "it. Nothing was changed; give the bundle's another name: engram model "
                    "add --as",
                    home, card.name));
  }
  if (found.status().code() != Code::not_found) return found.status();
  ENGRAM_ASSIGN(const MappedFile mapped, MappedFile::open(file));
  ENGRAM_TRY(check_onnx(mapped.bytes(), name(BundleMember::model)).status());
  ENGRAM_ASSIGN(const TrialReport report, try_model({.model = file,
                                                     .output = card.output,
                                                     .height = card.preprocess.crop,
                                                     .width = card.preprocess.crop,
                                                     .threads = 0,
                                                     .batch = 1}));
  if (report.features != card.features) {
    return Status(Code::bad_data,
                  fmt::format("the bundle's model gives {} features, its card says {}. Nothing was "
                              "changed",
                              report.features, card.features));
  }
  return false;
}

Status judge_state(const JudgedBundle& judged) {
  ENGRAM_ASSIGN(const AddedState state, read_state_file(judged.state_file));
  const LearnerConfig& config = state.learner.config();
  if (judged.card && fit_of(*judged.card, config) != BackboneFit::none) return {};
  if (!judged.card) {
    return find_backbone(ModelStore(judged.places.home), config, "", "the bundle's state").status();
  }
  return Status(Code::bad_data,
                "the bundle's state was learned with another model than it brings. "
                "Nothing was changed");
}

}  // namespace

Result<JudgedBundle> judge_bundle(const BundleFile& bundle, const std::string& folder,
                                  const std::string& root) {
  for (const BundleEntry& entry : bundle.head().entries) {
    ENGRAM_TRY(bundle.take_out(entry, folder + "/" + name(entry.member)));
  }
  const auto file_of = [&](BundleMember member) {
    return bundle.head().find(member) ? folder + "/" + name(member) : std::string();
  };
  JudgedBundle judged;
  judged.package_file = file_of(BundleMember::package);
  judged.model_file = file_of(BundleMember::model);
  judged.state_file = file_of(BundleMember::state);
  judged.settings_file = file_of(BundleMember::settings);
  judged.licences_file = file_of(BundleMember::licences);

  ENGRAM_ASSIGN(judged.package, read_package(judged.package_file));
  ENGRAM_TRY(fits(judged.package, bundle.head().target, bundle.path()));
  ENGRAM_TRY(check_room(judged.package, root));
  if (!judged.settings_file.empty()) ENGRAM_TRY(read_settings(judged.settings_file).status());
  ENGRAM_ASSIGN(judged.places, find_places(root, judged.settings_file));
  judged.settings_are_there = is_there(judged.places.settings);
  judged.state_is_there = Store::exists(judged.places.state);
  if (const std::string card = file_of(BundleMember::card); !card.empty()) {
    ENGRAM_ASSIGN(const auto text, read_file(card, most_bytes(BundleMember::card)));
    ENGRAM_ASSIGN(judged.card, parse_card(as_text(text)));
    ENGRAM_ASSIGN(judged.model_is_there,
                  judge_model(*judged.card, judged.model_file, judged.places.home));
  }
  if (!judged.state_file.empty()) ENGRAM_TRY(judge_state(judged));
  return judged;
}

}  // namespace engram
