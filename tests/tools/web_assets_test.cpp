// The page as it is compiled in: complete, and within what the content security policy allows.
#include "tools/web/assets.h"

#include <regex>
#include <set>
#include <string>

#include "tests/support/catch.h"

namespace engram {
namespace {

std::set<std::string> matches(std::string_view text, const char* pattern) {
  const std::string all(text);
  const std::regex expression(pattern);
  std::set<std::string> found;
  for (std::sregex_iterator at(all.begin(), all.end(), expression), end; at != end; ++at) {
    found.insert((*at)[1].str());
  }
  return found;
}

}  // namespace

TEST_CASE("Every file that the page asks for is in the program", "[tools][web]") {
  const Asset* page = find_asset("/");
  REQUIRE(page != nullptr);
  CHECK(page->type == "text/html; charset=utf-8");
  std::set<std::string> asked = matches(page->bytes, R"re((?:src|href)="(/[^"]+)")re");
  CHECK(asked.size() >= 4);
  for (const Asset& asset : assets()) {
    if (!asset.path.ends_with(".js")) continue;
    for (const auto& name : matches(asset.bytes, R"re(from '\./([a-z_]+\.js)')re")) {
      asked.insert("/" + name);
    }
  }
  for (const auto& path : asked) {
    INFO(path);
    CHECK(find_asset(path) != nullptr);
  }
  // And none that it does not.
  for (const Asset& asset : assets()) {
    INFO(asset.path);
    CHECK((asset.path == "/" || asset.path == "/api/openapi.json" ||
           asked.count(std::string(asset.path)) == 1));
  }
  CHECK(find_asset("/index.html") == nullptr);
  CHECK(find_asset("/../api.h") == nullptr);
  CHECK(find_asset("") == nullptr);
}

TEST_CASE("The page needs nothing that a strict policy forbids", "[tools][web]") {
  for (const Asset& asset : assets()) {
    INFO(asset.path);
    CHECK(
        matches(asset.bytes, R"re((https?://(?!www\.w3\.org/(?:2000/svg|1999))[a-z]+))re").empty());
    if (asset.path == "/") {
      CHECK(
          matches(asset.bytes, R"re((\sstyle=|\son[a-z]+=|<style|<script(?![^>]*src)))re").empty());
    }
    if (asset.path.ends_with(".js")) {
      CHECK(matches(asset.bytes,
                    R"re((innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\())re")
                .empty());
    }
  }
}

TEST_CASE("An asset is sent once", "[tools][web]") {
  const Asset* script = find_asset("/app.js");
  REQUIRE(script != nullptr);
  HttpRequest request;
  const HttpResponse first = asset_response(*script, request);
  CHECK(first.status == 200);
  CHECK(first.type == "text/javascript; charset=utf-8");
  CHECK(first.body == script->bytes);
  request.headers["if-none-match"] = first.headers.at("ETag");
  const HttpResponse again = asset_response(*script, request);
  CHECK(again.status == 304);
  CHECK(again.body.empty());
  request.headers["if-none-match"] = "\"another\"";
  CHECK(asset_response(*script, request).status == 200);
}

}  // namespace engram
