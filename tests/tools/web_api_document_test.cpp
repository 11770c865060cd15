// What the API says about itself in openapi.json: every answer is one that the document has, also those of
// the guard before it.
#include <set>

#include "tests/support/json_schema.h"
#include "tests/support/says.h"
#include "tests/support/web_desk.h"

namespace engram {

using namespace test;
using nlohmann::json;

namespace {

constexpr char kProgram[] = "X-Engram: 1\r\n";
constexpr char kToken[] = "Authorization: Bearer secret\r\n";

AccessRules guarded() {
  AccessRules rules;
  rules.hosts = {"localhost"};
  rules.token = "secret";
  return rules;
}

// One method of one path.
struct Operation {
  std::string method, path;
  json described;

  // The head without its end.
  std::string head(const std::string& host = "localhost") const {
    return method + " " + path + " HTTP/1.1\r\nHost: " + host + "\r\n";
  }
  // What is left of a good request after `head` and who asks.
  std::string rest(const json& document) const {
    if (method == "GET") return "\r\n";
    const auto& contents = described.at("requestBody").at("content");
    const std::string type = contents.begin().key();
    const std::string body = type == "application/json"
                                 ? example_of(contents.at(type).at("schema"), document).dump()
                                 : "junk";
    return "Content-Type: " + type + "\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + body;
  }
  // "", or how the answer leaves the document.
  std::string offence(const Answered& answer, const json& document) const {
    const auto& responses = described.at("responses");
    const std::string status = std::to_string(answer.status);
    if (!responses.contains(status)) return status + " is not documented: " + answer.body;
    const auto& contents = resolved(responses.at(status), document).at("content");
    const std::string type = contents.begin().key();
    if (!says(answer.head, "Content-Type: " + type)) return "no " + type + ": " + answer.head;
    if (type != "application/json") return "";
    return schema_offence(contents.at(type).at("schema"), answer.parsed(), document);
  }
};

std::vector<Operation> operations(const json& document) {
  std::vector<Operation> all;
  for (const auto& path : document.at("paths").items()) {
    for (const auto& method : path.value().items()) {
      all.push_back({method.key() == "get" ? "GET" : "POST", path.key(), method.value()});
    }
  }
  return all;
}

json document_of(const Served& served) {
  const json document = served.get("/api/openapi.json", kToken).parsed();
  REQUIRE(document.is_object());
  return document;
}

}  // namespace

TEST_CASE("The OpenAPI document is true", "[tools][web]") {
  Served served{guarded()};
  const auto learn = [&](Colour colour, const std::string& body) {
    served.show(colour);
    return served.ask(served.head("POST", "/api/learn") + kToken + kProgram +
                      "Content-Type: application/json\r\nContent-Length: " +
                      std::to_string(body.size()) + "\r\n\r\n" + body);
  };
  REQUIRE(learn(kRed, R"({"label":"mug"})").status == 200);
  REQUIRE(learn(kGreen, R"({"label":"leaf"})").status == 200);
  const json document = document_of(served);
  std::set<std::string> documented, routed;
  for (const ApiRoute& route : Api::routes()) {
    routed.insert(std::string(route.method) + " " + route.path);
  }
  for (const Operation& operation : operations(document)) {
    documented.insert(operation.method + " " + operation.path);
    INFO(operation.method << " " << operation.path);
    const Answered answer =
        served.ask(operation.head() + kToken + kProgram + operation.rest(document));
    CHECK(answer.status != 401);
    CHECK(operation.offence(answer, document) == "");
  }
  CHECK(documented == routed);
}

TEST_CASE("What is refused is refused as the OpenAPI document says", "[tools][web]") {
  Served served{guarded()};
  const json document = document_of(served);
  CHECK(document.at("components").at("securitySchemes").at("token").at("scheme") == "bearer");
  std::set<int> met;
  for (const Operation& operation : operations(document)) {
    const auto refused = [&](const std::string& request, std::set<int> by) {
      const Answered answer = served.ask(request);
      INFO(operation.method << " " << operation.path << ": " << answer.status << " "
                            << answer.body);
      CHECK(by.count(answer.status) == 1);
      CHECK(operation.offence(answer, document) == "");
      met.insert(answer.status);
    };
    const std::string rest = operation.rest(document);
    const std::string trusted = operation.head() + kToken + kProgram;
    refused(trusted + "Content-Length: 9000000\r\n\r\n", {413});
    refused(trusted + "X-Long: " + std::string(9000, 'x') + "\r\n\r\n", {431});
    refused("OPTIONS " + operation.path + " HTTP/1.1\r\nHost: localhost\r\n\r\n", {405});
    refused(operation.method + " " + operation.path + " HTTP/1.1\r\n\r\n", {400});
    if (operation.path == "/health") continue;
    refused(operation.head("elsewhere.example") + kToken + kProgram + rest, {421});
    refused(operation.head() + kProgram + rest, {401});
    refused(operation.head() + "Authorization: Bearer wrong\r\n" + kProgram + rest, {401, 429});
    refused(trusted + "Origin: http://elsewhere.example\r\n" + rest, {403});
    refused("DELETE " + operation.path + " HTTP/1.1\r\nHost: localhost\r\n" + kToken + kProgram +
                "\r\n",
            {405});
    if (operation.method == "GET") continue;
    refused(operation.head() + kToken + rest, {403});
    refused(trusted + "Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}", {415});
  }
  CHECK(met.count(429) == 1);
}

TEST_CASE("Events are as the OpenAPI document says", "[tools][web]") {
  Served served;
  served.learn(kRed, "mug");
  const json document = document_of(served);
  const std::string events = served.stream("/api/events", "\n\nevent: rates") +
                             served.stream("/api/events", "\"temperature\"");
  for (const auto& [name, schema] :
       {std::pair("state", "State"), std::pair("sight", "Sight"), std::pair("rates", "Rates")}) {
    INFO(name);
    const std::string mark = std::string("event: ") + name + "\ndata: ";
    const std::size_t at = events.find(mark);
    REQUIRE(at != std::string::npos);
    const std::size_t from = at + mark.size();
    const json told = json::parse(events.substr(from, events.find("\n\n", from) - from));
    CHECK(schema_offence(document.at("components").at("schemas").at(schema), told, document) == "");
  }
}

TEST_CASE("A region is taken or refused as the OpenAPI document says", "[tools][web]") {
  Served served;
  const json document = document_of(served);
  const json& schema = document.at("components").at("schemas").at("Region");
  for (const json& region : {json{0, 0, 1000, 1000}, json{980, 980, 20, 20}, json{0, 0, 20, 1000},
                             json{0, 0, 19, 1000}, json{0, 0, 1000, 0}, json{981, 0, 19, 1000},
                             json{0, 0, 1001, 1000}, json{0, 0, 500}, json{0.5, 0, 500, 500}}) {
    INFO(region);
    const int status = served.post("/api/view", json{{"region", region}}.dump()).status;
    CHECK((status == 200) == schema_offence(schema, region, document).empty());
  }
}

}  // namespace engram
