// What the API tells: events, pictures, metrics, files.
#include <set>

#include "tests/support/says.h"
#include "tests/support/staged_simt.h"
#include "tests/support/web_desk.h"

namespace engram {

using namespace test;
using nlohmann::json;

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

TEST_CASE("A GPU that is lost is told to whoever asks", "[tools][web][device]") {
  const OnSimtDevice on;
  Served served;
  CHECK(served.get("/health").parsed().at("cpu_because") == "");
  CHECK(says(served.get("/metrics").body, "engram_cpu_instead_of_gpu 0\n"));
  simt::lose_device_after(0);
  CHECK(eventually([&] { return says(served.get("/health").body, "The GPU was lost: "); }));
  CHECK(served.get("/health").status == 200);  // it goes on
  CHECK(says(served.get("/metrics").body, "engram_cpu_instead_of_gpu 1\n"));
  const json state = served.get("/api/state").parsed();
  CHECK(says(state.at("cpu_because").get<std::string>(), "The CPU goes on."));
  CHECK(served.learn(kRed, "mug").status == 200);
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
  for (const std::string& bad : {file.substr(0, file.size() / 2), std::string("junk")}) {
    const Answered refused = there.post("/api/import", bad, "application/octet-stream");
    CHECK(refused.status >= 400);
    const std::string why = refused.parsed().at("error");
    INFO(why);
    CHECK(why.starts_with("The file"));
    CHECK_FALSE(says(why, "learned.engram"));
    CHECK_FALSE(says(there.get("/api/state").body, "learned.engram"));  // nor in the timeline
  }
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

}  // namespace engram
