// The API on a real server over a real session, asked by a client that sends any bytes.
#include "tools/web/api.h"

#include <set>

#include <nlohmann/json.hpp>

#include "tests/support/catch.h"
#include "tests/support/http_client.h"
#include "tests/support/json_schema.h"
#include "tests/support/live_desk.h"
#include "tests/support/says.h"
#include "tools/web/assets.h"

namespace engram {
namespace {

using nlohmann::json;
using test::eventually;
using test::kBlue;
using test::kGreen;
using test::kRed;
using test::says;

struct Answered {
  int status = 0;
  std::string head, body;
  json parsed() const { return json::parse(body, nullptr, false); }
};

class Served {
 public:
  Served() {
    HttpOptions options;
    options.port = 0;
    auto started = HttpServer::start(options, [this](const auto& request, auto reply) {
      api->handle(request, std::move(reply));
    });
    REQUIRE(started.ok());
    server = std::move(started).value();
    api->tell_counters([this] { return server->counters(); });
    REQUIRE(test::see(*live, [](const Sight&) { return true; }) != nullptr);
  }

  std::string head(const std::string& method, const std::string& target) const {
    return method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n";
  }
  Answered ask(const std::string& request) const {
    test::HttpClient client(server->port());
    client.send(request);
    const std::string all = client.receive_answer();
    const std::size_t end = all.find("\r\n\r\n");
    if (end == std::string::npos || !all.starts_with("HTTP/1.1 ")) return {};
    return {std::atoi(all.c_str() + 9), all.substr(0, end + 2), all.substr(end + 4)};
  }
  Answered get(const std::string& target, const std::string& more = "") const {
    return ask(head("GET", target) + more + "\r\n");
  }
  Answered post(const std::string& target, const std::string& body,
                const std::string& type = "application/json") const {
    return ask(head("POST", target) + "Content-Type: " + type +
               "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  // What comes before the mark, and the mark.
  std::string stream(const std::string& target, const std::string& mark) const {
    test::HttpClient client(server->port());
    client.send(head("GET", target) + "\r\n");
    return client.receive_until(mark);
  }
  void show(test::Colour colour) {
    desk.scene->show(colour);
    REQUIRE(test::see(*live, [&](const Sight& s) { return test::shows(s, colour); }) != nullptr);
  }
  Answered learn(test::Colour colour, const std::string& label) {
    show(colour);
    return post("/api/learn", json{{"label", label}}.dump());
  }
  std::int64_t samples() const { return get("/api/state").parsed().at("samples"); }
  bool sees(const std::string& label) const {
    return test::see(*live, [&](const Sight& s) {
             return !s.answers.empty() && s.answers[0].label == label && !s.answers[0].unknown;
           }) != nullptr;
  }

  void end() {
    server.reset();
    api.reset();
    live.reset();
  }

  test::LiveDesk desk;
  std::unique_ptr<Live> live = desk.start();
  std::unique_ptr<Api> api = std::make_unique<Api>(*live);
  std::unique_ptr<HttpServer> server;
};

}  // namespace

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

TEST_CASE("Events tell the state when it changed, and what is seen", "[tools][web]") {
  Served served;
  test::HttpClient client(served.server->port());
  client.send(served.head("GET", "/api/events") + "\r\n");
  CHECK(says(client.receive_until("event: state"), "text/event-stream"));
  CHECK(says(client.receive_until("event: rates"), "\"answers\":[]"));
  served.learn(kRed, "<img src=x onerror=alert(1)>");
  CHECK(says(client.receive_until("onerror"), "<img src=x onerror"));
  client.receive_until("\"probability\"");
  served.desk.scene->lose();
  CHECK(says(client.receive_until("pulled the plug"), "pulled the plug"));
  CHECK(served.get("/health").parsed().at("status") == "waiting");
  served.desk.scene->show(kRed);
  CHECK(says(client.receive_until("\"kind\":\"live\""), "\"kind\":\"live\""));
}

TEST_CASE("Pictures come alone and as a stream", "[tools][web]") {
  Served served;
  served.show(kBlue);
  const Answered frame = served.get("/frame.jpg");
  CHECK(frame.status == 200);
  CHECK(says(frame.head, "Content-Type: image/jpeg"));
  CHECK(says(frame.head, "X-Frame: "));
  const auto decode = [](const std::string& bytes) {
    return decode_image(std::as_bytes(std::span(bytes)), "frame");
  };
  const auto picture = decode(frame.body);
  REQUIRE(picture.ok());
  CHECK(picture->width == 16);
  CHECK(picture->rgb[2] > 150);

  test::HttpClient client(served.server->port());
  client.send(served.head("GET", "/video.mjpeg") + "\r\n");
  const std::string begun = client.receive_until("\r\n--frame\r\nContent-Type");
  CHECK(says(begun, "multipart/x-mixed-replace; boundary=frame"));
  const std::size_t start = begun.find("\xff\xd8");
  REQUIRE(start != std::string::npos);
  CHECK(decode(begun.substr(start, begun.find("\r\n--frame", start) - start)).ok());
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

TEST_CASE("Metrics are lines that Prometheus reads", "[tools][web]") {
  Served served;
  served.learn(kRed, "a\"b\\c");
  const Answered metrics = served.get("/metrics");
  CHECK(says(metrics.head, "text/plain; version=0.0.4"));
  std::set<std::string> names;
  std::size_t at = 0;
  while (at < metrics.body.size()) {
    const std::size_t end = metrics.body.find('\n', at);
    REQUIRE(end != std::string::npos);
    const std::string line = metrics.body.substr(at, end - at);
    at = end + 1;
    if (line.starts_with("# ")) continue;
    INFO(line);
    char* rest = nullptr;
    (void)std::strtod(line.c_str() + line.rfind(' '), &rest);
    CHECK(*rest == '\0');
    const std::string name = line.substr(0, line.find_first_of(" {"));
    CHECK(says(metrics.body, "# TYPE " + name + " "));
    names.insert(name);
  }
  for (const char* name :
       {"engram_frames_total", "engram_frames_per_second", "engram_backbone_seconds",
        "engram_classes", "engram_samples", "engram_orders_total", "engram_storage_failed",
        "engram_resident_bytes", "engram_camera_state", "engram_camera_reopened_total"}) {
    INFO(name);
    CHECK(names.count(name) == 1);
  }
  CHECK(says(metrics.body, "engram_samples 1\n"));
  CHECK(says(metrics.body, "engram_camera_state{state=\"live\"} 1\n"));
}

TEST_CASE("What was learned on one device is added on another, as a file", "[tools][web]") {
  Served here, there;
  CHECK(here.learn(kRed, "mug").status == 200);
  CHECK(there.learn(kBlue, "sea").status == 200);
  test::HttpClient client(here.server->port());
  client.send("GET /api/export HTTP/1.0\r\n\r\n");
  const std::string answer = client.receive_all();
  REQUIRE(says(answer, "application/octet-stream"));
  CHECK(says(answer, "attachment; filename=\"learned.engram\""));
  const std::string file = answer.substr(answer.find("\r\n\r\n") + 4);
  CHECK(there.post("/api/import", file.substr(0, file.size() / 2), "application/octet-stream")
            .status >= 400);
  CHECK(there.samples() == 1);
  const Answered added = there.post("/api/import", file, "application/octet-stream");
  INFO(added.body);
  CHECK(added.status == 200);
  CHECK(there.samples() == 2);
  there.show(kRed);
  CHECK(there.sees("mug"));
  CHECK(there.post("/api/import", file, "application/octet-stream").status >= 400);
  CHECK(there.samples() == 2);
}

TEST_CASE("The OpenAPI document is true", "[tools][web]") {
  Served served;
  served.learn(kRed, "mug");
  served.learn(kGreen, "leaf");
  const json document = served.get("/api/openapi.json").parsed();
  REQUIRE(document.is_object());
  std::set<std::string> documented, routed;
  for (const ApiRoute& route : Api::routes()) {
    routed.insert(std::string(route.method) + " " + route.path);
  }
  for (const auto& path : document.at("paths").items()) {
    for (const auto& method : path.value().items()) {
      const std::string name = method.key() == "get" ? "GET" : "POST";
      documented.insert(name + " " + path.key());
      INFO(name << " " << path.key());
      std::string request = served.head(name, path.key());
      if (name == "POST") {
        const auto& contents = method.value().at("requestBody").at("content");
        const std::string type = contents.begin().key();
        const std::string body = type == "application/json"
                                     ? test::example_of(contents.at(type).at("schema")).dump()
                                     : "junk";
        request += "Content-Type: " + type + "\r\nContent-Length: " + std::to_string(body.size()) +
                   "\r\n\r\n" + body;
      } else {
        request += "\r\n";
      }
      const Answered answer = served.ask(request);
      const std::string status = std::to_string(answer.status);
      INFO(status << " " << answer.body.substr(0, 200));
      const auto& responses = method.value().at("responses");
      REQUIRE(responses.contains(status));
      const auto& contents = responses.at(status).at("content");
      const std::string type = contents.begin().key();
      CHECK(says(answer.head, "Content-Type: " + type));
      if (type == "application/json") {
        CHECK(test::schema_offence(contents.at(type).at("schema"), answer.parsed(), document) ==
              "");
      }
    }
  }
  CHECK(documented == routed);
}

}  // namespace engram
