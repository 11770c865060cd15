#include "engine/model_card.h"

#include <string>

#include "tests/support/catch.h"
#include "tests/support/says.h"

using namespace engram;
using engram::test::says;

namespace {

ModelCard card() {
  return {.name = "efficientnet-lite0",
          .source = "a package",
          .licence = "Apache-2.0",
          .sha256 = std::string(64, 'a'),
          .preprocess = {.resize = 256,
                         .crop = 224,
                         .mode = Resize::squash,
                         .order = ChannelOrder::bgr,
                         .mean = {123.675f, 116.28f, 103.53f},
                         .std = {58.395f, 57.12f, 57.375f}},
          .output = "features",
          .features = 1280,
          .feature_scale = 45.25f,
          .hidden_mul = 1448,
          .calibration_pictures = 96};
}

std::string with(std::string json, const std::string& old, const std::string& put) {
  const auto at = json.find(old);
  REQUIRE(at != std::string::npos);
  return json.replace(at, old.size(), put);
}

}  // namespace

TEST_CASE("a card survives being written and read", "[engine][model_card]") {
  const ModelCard before = card();
  auto after = parse_card(to_json(before));
  REQUIRE(after.ok());
  CHECK(to_json(*after) == to_json(before));
  CHECK(after->preprocess.mean == before.preprocess.mean);
  CHECK(after->preprocess.std == before.preprocess.std);
  CHECK(after->preprocess.mode == Resize::squash);
  CHECK(after->preprocess.order == ChannelOrder::bgr);
  CHECK(after->feature_scale == before.feature_scale);
  CHECK(says(to_json(before), "123.675,"));  // as people write it
}

TEST_CASE("a card names its filter where it is not bicubic", "[engine][model_card]") {
  ModelCard own = card();
  CHECK_FALSE(says(to_json(own), "filter"));  // as cards were before, and are read still
  CHECK(parse_card(to_json(own))->preprocess.filter == Filter::bicubic);
  own.preprocess.filter = Filter::bilinear;
  CHECK(says(to_json(own), "\"filter\": \"bilinear\""));
  auto after = parse_card(to_json(own));
  REQUIRE(after.ok());
  CHECK(after->preprocess.filter == Filter::bilinear);
  CHECK(to_json(*after) == to_json(own));
  // Said in so many words, it is the same card.
  const std::string spelt = with(to_json(own), "\"bilinear\"", "\"bicubic\"");
  CHECK(to_json(parse_card(spelt).value()) == to_json(card()));
}

TEST_CASE("a card says what a model was adapted from", "[engine][model_card]") {
  ModelCard adapted = card();
  CHECK_FALSE(says(to_json(adapted), "parent"));  // as cards were before, and are read still
  CHECK_FALSE(says(to_json(adapted), "redistributable"));
  adapted.redistributable = false;
  adapted.parent = "dinov2 " + std::string(64, 'b');
  adapted.adapted = "ssf, 20 epochs, 10 classes, 300 pictures, seed 1";
  auto after = parse_card(to_json(adapted));
  REQUIRE(after.ok());
  CHECK_FALSE(after->redistributable);
  CHECK(after->parent == adapted.parent);
  CHECK(after->adapted == adapted.adapted);
  adapted.parent = "dinov2";
  CHECK(says(parse_card(to_json(adapted)).status(), "\"parent\" must be a model's name and its"));
  const std::string wrong =
      with(to_json(card()), "\"format\": 1", "\"format\": 1, \"redistributable\": 0");
  CHECK(says(parse_card(wrong).status(), "\"redistributable\" must be true or false"));
}

TEST_CASE("a wrong card is refused by the name of its field", "[engine][model_card]") {
  const std::string good = to_json(card());
  struct Wrong {
    const char *old, *put, *words;
  };
  const Wrong wrongs[] = {
      {"\"efficientnet-lite0\"", "\"../etc\"", "\"name\""},
      {"\"efficientnet-lite0\"", "7", "\"name\" must be a text"},
      {"\"resize\": 256", "\"resize\": 0", "\"input.resize\" must be 1 to 4096"},
      {"\"resize\": 256", "\"resize\": 18446744073709551615", "\"input.resize\""},
      {"\"resize\": 256", "\"resize\": 100", "larger than"},
      {"\"resize\": 256", "\"resize\": 256, \"x\": 1", "does not know in \"input\""},
      {"\"crop\": 224", "\"crop\": 224.5", "\"input.crop\""},
      {"\"squash\"", "\"stretch\"", "\"input.mode\""},
      {"\"bgr\"", "\"grb\"", "\"input.order\""},
      {"\"bgr\"", "\"bgr\", \"filter\": \"lanczos\"", "\"input.filter\" must be \"bicubic\" or"},
      {"\"bgr\"", "\"bgr\", \"filter\": 1", "\"input.filter\" must be a text"},
      {"123.675", "1e999", "not JSON"},
      {"123.675", "1e30", "\"input.mean\""},
      {"58.395", "0", "\"input.std\""},
      {"58.395", "58.395, 1", "three numbers"},
      {"\"features\": 1280", "\"features\": -1", "\"features\""},
      {"\"features\": 1280", "\"features\": 65537", "\"features\" must be 1 to 65536"},
      {"\"feature_scale\": 45.25", "\"feature_scale\": 1e-39", "\"feature_scale\""},
      {"\"feature_scale\": 45.25", "\"feature_scale\": 1e39", "\"feature_scale\""},
      {"\"feature_scale\": 45.25", "\"feature_scale\": -1", "\"feature_scale\""},
      {"\"feature_scale\": 45.25", "\"feature_scale\": null", "\"feature_scale\""},
      {"\"hidden_mul\": 1448", "\"hidden_mul\": 65537", "\"hidden_mul\""},
      {"aaaa", "AAAA", "\"sha256\""},
      {"\"licence\": \"Apache-2.0\",", "", "\"licence\" is missing"},
      {"\"licence\"", "\"colour\": 1, \"licence\"", "does not know"},
      {"{", "", "not JSON"},
  };
  for (const Wrong& wrong : wrongs) {
    INFO(wrong.old << " -> " << wrong.put);
    const auto parsed = parse_card(with(good, wrong.old, wrong.put));
    REQUIRE_FALSE(parsed.ok());
    CHECK(parsed.status().code() == Code::bad_data);
    CHECK(says(parsed.status(), wrong.words));
  }
  CHECK_FALSE(parse_card("[]").ok());
  CHECK_FALSE(parse_card("").ok());
  CHECK(says(parse_card(std::string(70'000, ' ')).status(), "more than the 65536"));
}

TEST_CASE("a card from a newer version says so", "[engine][model_card]") {
  const auto parsed = parse_card(with(to_json(card()), "\"format\": 1", "\"format\": 2"));
  CHECK(parsed.status().code() == Code::not_supported);
}

TEST_CASE("names of models are names of folders", "[engine][model_card]") {
  for (const char* good : {"a", "efficientnet-lite0", "ViT_B.16", "0"}) CHECK(is_model_name(good));
  for (const char* bad : {"", ".", "..", ".new", "-x", "a/b", "a b", "\n", "mod\xc3\xa8le"}) {
    CHECK_FALSE(is_model_name(bad));
  }
  CHECK_FALSE(is_model_name(std::string(65, 'a')));
}
