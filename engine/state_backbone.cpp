#include "engine/state_backbone.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "platform/hash.h"
#include "platform/sentence.h"

namespace engram {
namespace {

constexpr char kBehindSha = '+';
constexpr std::size_t kCardDigits = 16;
constexpr std::int32_t kCardHiddenMax = 31;  // the card's hidden_mul is measured for this range

// Bits, for the text of a float may change with a library; -0 is 0.
std::string bits_of(const std::array<float, 3>& values) {
  const auto bits = [](float value) { return std::bit_cast<std::uint32_t>(value + 0.0f); };
  return fmt::format("{:08x} {:08x} {:08x}", bits(values[0]), bits(values[1]), bits(values[2]));
}

std::string sha_of(const std::string& backbone) {
  return backbone.substr(0, backbone.find(kBehindSha));
}

struct BestFit {
  BackboneFit fit = BackboneFit::none;
  std::string name;
};

BestFit best_fit(const std::vector<StoredModel>& models, const LearnerConfig& config) {
  BestFit best;
  for (const StoredModel& model : models) {
    if (!model.problem.empty()) continue;
    const BackboneFit fit = fit_of(model.card, config);
    if (fit > best.fit) best = {fit, model.card.name};
  }
  return best;
}

Status does_not_fit(const ModelCard& card, const LearnerConfig& config, const BestFit& best,
                    const std::string& state) {
  const std::string why =
      card.sha256 == sha_of(config.backbone)
          ? fmt::format(
                "the file of {}, but with pictures prepared otherwise or another of its "
                "outputs",
                card.name)
          : fmt::format("another backbone (sha256 {:.12}...) than {} ({:.12}...)", config.backbone,
                        card.name, card.sha256);
  const std::string what_to_do =
      best.name.empty()
          ? "Name another state, or add the backbone that it was made with: engram model add"
          : fmt::format(
                "Its model is \"{}\": name that one or leave --model out, or name another "
                "state.",
                best.name);
  return Status(Code::invalid_argument,
                fmt::format("the state {} was made with {}: their features do not mix. Nothing was "
                            "changed. {}",
                            state, why, what_to_do));
}

// What is there instead, so that nobody adds a model that is there.
Status none_fits(const std::vector<StoredModel>& models, const LearnerConfig& config,
                 const std::string& state, const std::string& directory) {
  std::string instead;
  for (const StoredModel& model : models) {
    if (!model.problem.empty()) {
      instead += fmt::format(" The model \"{}\" is there, but cannot be used: {}", model.card.name,
                             sentence(model.problem));
    } else if (model.card.sha256 == sha_of(config.backbone)) {
      instead += fmt::format(
          " The model \"{}\" is of that file, but prepares pictures otherwise or takes another of "
          "its outputs: add the file with the options that it had then, under another name (--as).",
          model.card.name);
    }
  }
  if (instead.empty()) instead = " Add the backbone that it was made with: engram model add";
  return Status(Code::not_found,
                fmt::format("no model in {} is the one that {} was made with (sha256 {}).{}",
                            directory, state, sha_of(config.backbone), instead));
}

}  // namespace

std::string backbone_of(const ModelCard& card) {
  const PreprocessSpec& how = card.preprocess;
  // Named only where it is not the usual one: states on disk know theirs without it.
  const char* filter = how.filter == Filter::bilinear ? " filter bilinear" : "";
  const std::string text =
      fmt::format("resize {} crop {} mode {} order {} mean {} std {} features {}{} output {}",
                  how.resize, how.crop, how.mode == Resize::squash ? "squash" : "shorter_side",
                  how.order == ChannelOrder::bgr ? "bgr" : "rgb", bits_of(how.mean),
                  bits_of(how.std), card.features, filter, card.output);
  return card.sha256 + kBehindSha +
         sha256_hex(std::as_bytes(std::span(text))).substr(0, kCardDigits);
}

bool same_backbone(const std::string& a, const std::string& b) {
  const auto file_alone = [](const std::string& name) {
    return name.find(kBehindSha) == std::string::npos;
  };
  return a == b || ((file_alone(a) || file_alone(b)) && sha_of(a) == sha_of(b));
}

LearnerConfig config_for(const ModelCard& card, LearnerConfig config) {
  config.backbone = backbone_of(card);
  config.features = card.features;
  config.feature_scale = card.feature_scale;
  const std::int64_t mul = std::int64_t{card.hidden_mul} * (std::int64_t{config.hidden_max} + 1);
  config.hidden_mul = std::int32_t(std::clamp<std::int64_t>(mul / (kCardHiddenMax + 1), 1, 65536));
  return config;
}

BackboneFit fit_of(const ModelCard& card, const LearnerConfig& config) {
  const LearnerConfig own = config_for(card, config);
  if (own.backbone == config.backbone) return BackboneFit::whole;
  if (card.sha256 != config.backbone || own.features != config.features) return BackboneFit::none;
  const bool scales =
      own.feature_scale == config.feature_scale && own.hidden_mul == config.hidden_mul;
  return scales ? BackboneFit::scale : BackboneFit::file;
}

Result<StoredModel> find_backbone(const ModelStore& models, const LearnerConfig& config,
                                  const std::string& name, const std::string& state) {
  ENGRAM_ASSIGN(const std::vector<StoredModel> stored, models.list());
  const BestFit best = best_fit(stored, config);
  if (name.empty()) {
    if (best.name.empty()) return none_fits(stored, config, state, models.directory());
    return models.find(best.name);
  }
  ENGRAM_ASSIGN(StoredModel model, models.find(name));
  const BackboneFit fit = fit_of(model.card, config);
  if (fit == BackboneFit::none || fit < best.fit) {
    return does_not_fit(model.card, config, best, state);
  }
  return model;
}

}  // namespace engram
