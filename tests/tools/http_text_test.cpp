#include "tools/web/http_text.h"

#include "tests/support/catch.h"

namespace engram {

using namespace std::string_literals;

TEST_CASE("Percent escapes are decoded once, to text", "[tools][http]") {
  CHECK(percent_decode("a%20b+%c3%A9", PlusMeans::plus) == "a b+é");
  CHECK(percent_decode("a+b%2B", PlusMeans::space) == "a b+");
  CHECK(percent_decode("%2541", PlusMeans::plus) == "%41");
  CHECK(percent_decode("", PlusMeans::plus) == "");
  for (const std::string& bad : {"%"s, "%4"s, "%g0"s, "%0g"s, "% 1"s, "%00"s, "\0"s, "\n"s, "%7f"s,
                                 "%c0%80"s, "%ed%a0%80"s, "\xff"s, "%C2%80"s}) {
    INFO(bad);
    CHECK_FALSE(percent_decode(bad, PlusMeans::plus));
  }
}

TEST_CASE("A query is names and values, each name once", "[tools][http]") {
  using Map = std::map<std::string, std::string>;
  CHECK(parse_query("a=1&b=x%3Dy&c&=e&&d=") ==
        Map{{"a", "1"}, {"b", "x=y"}, {"c", ""}, {"", "e"}, {"d", ""}});
  CHECK(parse_query("a=b=c") == Map{{"a", "b=c"}});
  CHECK_FALSE(parse_query("a=1&a=1"));
  CHECK_FALSE(parse_query("a=1&%61=2"));
  CHECK_FALSE(parse_query("%"));
}

TEST_CASE("A target is a path or an address with one", "[tools][http]") {
  CHECK(parse_target("/a/../b")->path == "/a/../b");
  CHECK(parse_target("/%2e?x=%2e")->query.at("x") == ".");
  CHECK(parse_target("//evil/x")->path == "//evil/x");
  CHECK(parse_target("http://h:1")->authority == "h:1");
  CHECK(parse_target("http://h:1")->path == "/");
  for (const char* bad : {"", "a", "*", "h:80", "https://h/", "http:///x", "http://u@h/", "/a#b"}) {
    INFO(bad);
    CHECK_FALSE(parse_target(bad));
  }
}

TEST_CASE("A cookie is found by its whole name", "[tools][http]") {
  CHECK(find_cookie("a=1; b=2;c=3", "b") == "2");
  CHECK(find_cookie("a=1; b=2;c=3", "c") == "3");
  CHECK(find_cookie("xb=1; b=2=3", "b") == "2=3");
  CHECK(find_cookie("b=1; b=2", "b") == "1");
  CHECK(find_cookie("b=", "b") == "");
  CHECK_FALSE(find_cookie("b", "b"));
  CHECK_FALSE(find_cookie("ab=1;bb=2; =b", "b"));
  CHECK_FALSE(find_cookie("", "b"));
}

TEST_CASE("A host is a name or an address, with or without port", "[tools][http]") {
  CHECK(parse_host("LocalHost.:80")->host == "localhost");
  CHECK(parse_host("localhost:80")->port == "80");
  CHECK(parse_host("localhost")->port.empty());
  CHECK(parse_host("[::1]:80")->host == "[::1]");
  CHECK(parse_host("[::1]")->host == "[::1]");
  for (const std::string& bad :
       {""s,         ":"s,     ":80"s, "."s,       ".."s,   "a..:80"s, "a:b"s,
        "a:123456"s, "a:1:2"s, "a b"s, "a/b"s,     "a@b"s,  "[::1"s,   "[::1]x"s,
        "[::1]:x"s,  "[x]"s,   "::1"s, "[::1\0]"s, "a\0b"s, "é"s,      std::string(300, 'a')}) {
    INFO(bad);
    CHECK_FALSE(parse_host(bad));
  }
  CHECK(is_ip_literal("1.2.3.4"));
  CHECK(is_ip_literal("[fe80::1]"));
  for (const char* name : {"1.2.3", "1.2.3.4.nip.io", "0x7f.1", "2130706433", "::1", "[]", ""}) {
    CHECK_FALSE(is_ip_literal(name));
  }
}

}  // namespace engram
