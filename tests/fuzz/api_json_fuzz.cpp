// Bodies of requests: what is taken has exactly the fields that were asked for, each of its kind.
#include "engine/label.h"
#include "tests/fuzz/fuzz_target.h"
#include "tools/web/api_json.h"

using namespace engram;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using Kind = JsonField::Kind;
  const std::string body(reinterpret_cast<const char*>(data), size);
  const auto fields = read_fields(body, {{"label", Kind::label},
                                         {"frame", Kind::frame, false},
                                         {"burst", Kind::flag, false},
                                         {"steps", Kind::count, false},
                                         {"region", Kind::region, false}});
  if (!fields.ok()) {
    ENGRAM_CHECK(nlohmann::json::accept(error_response(fields.status()).body));
    return 0;
  }
  const nlohmann::json& taken = fields.value();
  ENGRAM_CHECK(check_label(taken.at("label").get<std::string>()).ok());
  ENGRAM_CHECK(taken.value("steps", 1) >= 1 && taken.value("steps", 1) <= 1000);
  if (taken.contains("region")) ENGRAM_CHECK(taken["region"].size() == 4);
  ENGRAM_CHECK(taken.size() <= 5);
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  return {R"({"label":"mug"})", R"({"label":"caf\u00e9","frame":12,"burst":true})",
          R"({"steps":3,"label":"a","region":[0,0,1000,1000]})"};
}
