#include "engine/state_backbone.h"

#include <functional>
#include <limits>
#include <vector>

#include "platform/file.h"
#include "platform/hash.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"
#include "tests/support/temp_directory.h"

using namespace engram;
using namespace engram::test;

namespace {

const std::string kContent = "one file";

ModelCard card_named(const std::string& name) {
  ModelCard card;
  card.name = name;
  card.licence = "unknown";
  card.sha256 = sha256_hex(std::as_bytes(std::span(kContent)));
  card.output = "features";
  card.features = 64;
  card.feature_scale = 2;
  card.hidden_mul = 100;
  return card;
}

// A home where that file is stored under several cards.
class Shelf {
 public:
  Shelf() { REQUIRE(replace_file(file_, std::as_bytes(std::span(kContent))).ok()); }
  void add(const ModelCard& card) { REQUIRE(store().add(file_, card, true).ok()); }
  void overwrite_card(const std::string& name, const std::string& text) {
    const std::string path = store().directory() + "/" + name + "/card.json";
    REQUIRE(replace_file(path, std::as_bytes(std::span(text))).ok());
  }
  ModelStore store() const { return ModelStore(folder_.path()); }
  Result<StoredModel> find(const LearnerConfig& config, const std::string& name = "") const {
    return find_backbone(store(), config, name, "desk");
  }

 private:
  TempDirectory folder_;
  std::string file_ = folder_ / "net.onnx";
};

LearnerConfig as_earlier_versions(LearnerConfig config) {
  config.backbone.resize(64);
  return config;
}

}  // namespace

TEST_CASE("a backbone is its file and all that shapes features", "[engine][state_backbone]") {
  const ModelCard card = card_named("net");
  const std::string name = backbone_of(card);
  CHECK(name.substr(0, 65) == card.sha256 + "+");
  CHECK(name.size() == 64 + 1 + 16);
  // For states on disk: this never changes.
  CHECK(name.substr(65) == "46ee08f76bb221bb");

  const std::vector<std::function<void(ModelCard&)>> shaping{
      [](ModelCard& c) { c.sha256 = std::string(64, '0'); },
      [](ModelCard& c) { c.preprocess.resize += 1; },
      [](ModelCard& c) { c.preprocess.crop += 1; },
      [](ModelCard& c) { c.preprocess.mode = Resize::squash; },
      [](ModelCard& c) { c.preprocess.order = ChannelOrder::bgr; },
      [](ModelCard& c) { c.preprocess.mean[1] += 1; },
      [](ModelCard& c) { c.preprocess.std[2] += 1; },
      [](ModelCard& c) { c.preprocess.filter = Filter::bilinear; },
      [](ModelCard& c) { c.output = "other"; },
      [](ModelCard& c) { c.features += 1; },
  };
  for (const auto& change : shaping) {
    ModelCard changed = card;
    change(changed);
    CHECK(backbone_of(changed) != name);
    CHECK_FALSE(same_backbone(backbone_of(changed), name));
    CHECK(fit_of(changed, config_for(card, {})) == BackboneFit::none);
  }
  // Called otherwise or measured on other pictures, it is the same; a state keeps its own scales.
  ModelCard again = card_named("again");
  again.source = "elsewhere";
  again.feature_scale = 4;
  again.hidden_mul = 50;
  CHECK(backbone_of(again) == name);
  CHECK(fit_of(again, config_for(card, {})) == BackboneFit::whole);
  CHECK(same_backbone(name, card.sha256));  // of an earlier version
  CHECK(same_backbone(card.sha256, name));
  CHECK_FALSE(same_backbone(name, std::string(64, '0')));
}

TEST_CASE("of one file under several cards, the one that a state was made with is found",
          "[engine][state_backbone]") {
  Shelf shelf;
  ModelCard plain = card_named("m-plain"), turned = card_named("a-turned"),
            wide = card_named("b-wide");
  turned.preprocess.order = ChannelOrder::bgr;
  turned.feature_scale = 8;
  wide.output = "wide";
  wide.features = 128;
  for (const ModelCard& card : {plain, turned, wide}) shelf.add(card);

  for (const ModelCard& card : {plain, turned, wide}) {
    const LearnerConfig config = config_for(card, {});
    CHECK(shelf.find(config)->card.name == card.name);
    CHECK(shelf.find(config, card.name)->card.name == card.name);
    CHECK(shelf.find(as_earlier_versions(config))->card.name == card.name);
    CHECK(shelf.find(as_earlier_versions(config), card.name)->card.name == card.name);
  }
  for (const bool earlier : {false, true}) {
    LearnerConfig config = config_for(plain, {});
    if (earlier) config = as_earlier_versions(config);
    for (const char* other : {"a-turned", "b-wide"}) {
      const Status refused = shelf.find(config, other).status();
      CHECK(refused.code() == Code::invalid_argument);
      CHECK(says(refused, "prepared otherwise"));
      CHECK(says(refused, "\"m-plain\""));
    }
  }
  // Nothing tells a state of an earlier version from one card of its file, whose scales changed.
  REQUIRE(shelf.store().remove("a-turned").ok());
  plain.feature_scale = 16;
  shelf.add(plain);
  CHECK(shelf.find(as_earlier_versions(config_for(card_named("m-plain"), {})), "m-plain").ok());

  const Status gone = shelf.find(config_for(turned, {})).status();
  CHECK(gone.code() == Code::not_found);
  CHECK(says(gone, "\"m-plain\" is of that file"));
}

TEST_CASE("a model that is there and cannot be used is named", "[engine][state_backbone]") {
  Shelf shelf;
  const LearnerConfig config = config_for(card_named("net"), {});
  CHECK(says(shelf.find(config).status(), "engram model add"));
  shelf.add(card_named("net"));
  CHECK(shelf.find(config).ok());
  shelf.overwrite_card("net", R"({"format": 2})");
  CHECK(shelf.find(config).status().code() == Code::not_found);
  CHECK(says(shelf.find(config).status(), "\"net\" is there, but cannot be used"));
  CHECK(says(shelf.find(config).status(), "newer version"));
  shelf.overwrite_card("net", "{");
  CHECK(says(shelf.find(config).status(),
             "not JSON. Add it again with: engram model add --replace net"));
}
