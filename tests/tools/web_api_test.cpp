#include "tools/web/api.h"

#include "tests/support/says.h"
#include "tests/support/web_desk.h"

namespace engram {

using namespace test;
using nlohmann::json;

TEST_CASE("Orders over HTTP are answered when they are durable", "[tools][web]") {
  Served served;
  CHECK(says(served.learn(kRed, "mug").parsed().at("said"), "learned mug"));
  CHECK(served.learn(kGreen, "leaf").status == 200);
  CHECK(served.learn(kGreen, "leaf").status == 200);
  CHECK(served.sees("leaf"));
  CHECK(served.post("/api/relabel", R"({"label":"fern"})").status == 200);
  CHECK(served.post("/api/rename", R"({"from":"mug","to":"cup"})").status == 200);
  CHECK(served.post("/api/forget", R"({"label":"fern"})").status == 200);
  CHECK(served.post("/api/end-task", "").status == 200);
  CHECK(served.learn(kBlue, "sea").status == 200);
  CHECK(served.post("/api/undo", R"({"steps":1})").status == 200);
  CHECK(served.post("/api/undo", R"({"steps":1000})").status == 400);
  CHECK(served.samples() == 2);
  served.live->stop();
  CHECK(served.post("/api/learn", R"({"label":"late"})").status == 503);
  served.end();
  const auto kept = served.desk.on_disk();
  REQUIRE(kept.size() == 2);
  CHECK(kept[0].label == "cup");
  CHECK(kept[1].label == "leaf");
}

TEST_CASE("A learn that names a frame teaches what was seen in it", "[tools][web]") {
  Served served;
  served.show(kRed);
  const std::string events = served.stream("/api/events", "event: rates");
  const std::size_t at = events.find("event: sight\ndata: ");
  REQUIRE(at != std::string::npos);
  const json sight = json::parse(events.substr(at + 19, events.find("\n\n", at) - at - 19));
  served.show(kGreen);
  const json red = {{"label", "red"}, {"frame", sight.at("frame")}};
  CHECK(served.post("/api/learn", red.dump()).status == 200);
  CHECK(served.learn(kGreen, "green").status == 200);
  served.show(kRed);
  CHECK(served.sees("red"));
  const Answered gone = served.post("/api/learn", R"({"label":"red","frame":9007199254740992})");
  CHECK(gone.status == 404);
  CHECK(says(gone.parsed().at("error"), "not at hand"));
  CHECK(served.samples() == 2);
}

TEST_CASE("A held key skips what it has seen", "[tools][web]") {
  Served served;
  CHECK(served.learn(kRed, "mug").parsed().at("skipped") == false);
  CHECK(served.post("/api/learn", R"({"label":"mug","burst":true})").parsed().at("skipped") ==
        true);
  CHECK(served.samples() == 1);
  CHECK(says(served.get("/metrics").body,
             "engram_orders_total{kind=\"learn\",outcome=\"skipped\"} 1\n"));
}

TEST_CASE("Requests that are not exactly what was asked for change nothing", "[tools][web]") {
  Served served;
  const std::string deep = std::string(1000, '[') + std::string(1000, ']');
  const std::vector<std::array<std::string, 3>> bad = {
      {"/api/learn", "", "\"label\" is missing"},
      {"/api/learn", "{", "not valid JSON"},
      {"/api/learn", R"({"label":"a"} x)", "not valid JSON"},
      {"/api/learn", R"({"label":"a",})", "not valid JSON"},
      {"/api/learn", "{\"label\":\"\xff\"}", "not valid JSON"},
      {"/api/learn", R"(["label"])", "JSON object"},
      {"/api/learn", R"("label")", "JSON object"},
      {"/api/learn", "{\"label\":" + deep + "}", "too deeply"},
      {"/api/learn", R"({"label":{"label":"a"}})", "too deeply"},
      {"/api/learn", R"({"label":7})", "\"label\" has to be text"},
      {"/api/learn", R"({"label":""})", "empty"},
      {"/api/learn", "{\"label\":\"a\\u0000b\"}", "control character"},
      {"/api/learn", "{\"label\":\"" + std::string(256, 'a') + "\"}", "at most 255"},
      {"/api/learn", "{\"label\":\"" + std::string(5000, 'a') + "\"}", "at most 4096"},
      {"/api/learn", R"({"label":"a","label":"b"})", "twice"},
      {"/api/learn", R"({"label":"a","lable":"b"})", "\"lable\" is not known"},
      {"/api/learn", R"({"label":"a","burst":1})", "true or false"},
      {"/api/learn", R"({"label":"a","frame":-1})", "number of a frame"},
      {"/api/learn", R"({"label":"a","frame":1e3})", "number of a frame"},
      {"/api/learn", R"({"label":"a","frame":99999999999999999999})", "number of a frame"},
      {"/api/undo", R"({"steps":0})", "from 1 to 1000"},
      {"/api/undo", R"({"steps":1001})", "from 1 to 1000"},
      {"/api/rename", R"({"from":"a"})", "\"to\" is missing"},
      {"/api/pause", R"({"paused":"yes"})", "true or false"},
      {"/api/pause", R"({"paused":null})", "true or false"},
      {"/api/end-task", R"({"now":true})", "these are: none"},
      {"/api/view", R"({"region":[0,0,1000]})", "[left, top, width, height]"},
      {"/api/view", R"({"region":[0,0,10,1000]})", "lie in the picture"},
      {"/api/view", R"({"region":[600,0,500,1000]})", "lie in the picture"},
      {"/api/view", R"({"region":[0.5,0,500,1000]})", "[left, top, width, height]"},
  };
  for (const auto& [path, body, words] : bad) {
    INFO(path << " " << body.substr(0, 60));
    const Answered answer = served.post(path, body);
    CHECK(answer.status == 400);
    CHECK(answer.parsed().value("code", "") == "invalid_argument");
    CHECK(says(answer.parsed().value("error", ""), words));
  }
  CHECK(served.post("/api/learn", R"({"label":"a"})", "text/plain").status == 415);
  CHECK(served.post("/api/import", "{}").status == 415);
  CHECK(served.get("/api/nothing").status == 404);
  CHECK(served.get("/").status == 404);  // the page is not the API's
  const Answered wrong = served.get("/api/learn");
  CHECK(wrong.status == 405);
  CHECK(says(wrong.head, "Allow: POST"));
  const json state = served.get("/api/state").parsed();
  CHECK(state.at("samples") == 0);
  CHECK(state.at("paused") == false);
  CHECK(state.at("region") == json::array({0, 0, 1000, 1000}));
}

TEST_CASE("Orders that cannot be carried out say so in the words of the engine", "[tools][web]") {
  Served served;
  CHECK(served.post("/api/forget", R"({"label":"nobody"})").status == 404);
  CHECK(served.post("/api/relabel", R"({"label":"nobody"})").status >= 400);
  CHECK(served.post("/api/import", "no state", "application/octet-stream").status >= 400);
  const Answered spaced = served.learn(kRed, "mug ");
  CHECK(spaced.status == 400);
  CHECK(says(std::string(spaced.parsed().at("error")), "ends with a space"));
  served.desk.files.is_full = true;
  const Answered full = served.learn(kRed, "mug");
  CHECK(full.status == 507);
  CHECK(full.parsed().at("code") == "io_failure");
  CHECK(served.get("/health").status == 503);
  CHECK(served.get("/health").parsed().at("status") == "failed");
  served.desk.files.is_full = false;
  CHECK(served.learn(kRed, "mug").status == 200);
  CHECK(served.get("/health").status == 200);
}

TEST_CASE("Pause and view are told to the session", "[tools][web]") {
  Served served;
  CHECK(served.post("/api/pause", R"({"paused":true})").status == 200);
  CHECK(served.get("/api/state").parsed().at("paused") == true);
  CHECK(served.post("/api/pause", R"({"paused":false})").status == 200);
  CHECK(served.post("/api/view", R"({"mirror":true})").status == 200);
  CHECK(served.post("/api/view", R"({"region":[100,100,500,500]})").parsed() ==
        json{{"mirror", true}, {"region", {100, 100, 500, 500}}});
  const json state = served.get("/api/state").parsed();
  CHECK(state.at("mirror") == true);
  CHECK(state.at("region") == json::array({100, 100, 500, 500}));
}

}  // namespace engram
