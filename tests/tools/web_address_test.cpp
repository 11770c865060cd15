#include "tools/web/web_address.h"

#include "tests/support/catch.h"
#include "tests/support/says.h"

namespace engram {

TEST_CASE("--http names an address and a port", "[tools][web_address]") {
  struct Case {
    const char* text;
    const char* address;
    int port;
  };
  for (const Case& one :
       {Case{"8477", "127.0.0.1", 8477}, Case{":8477", "127.0.0.1", 8477},
        Case{":0", "127.0.0.1", 0}, Case{"0", "127.0.0.1", 0},
        Case{"127.0.0.1:80", "127.0.0.1", 80}, Case{"localhost:1", "127.0.0.1", 1},
        Case{"0.0.0.0:65535", "0.0.0.0", 65535}, Case{"[::1]:8477", "::1", 8477},
        Case{"[::]:9", "::", 9}, Case{"[0:0::0:1]:5", "::1", 5}, Case{"0.0.0.0", "0.0.0.0", 8477},
        Case{"[::1]", "::1", 8477}}) {
    INFO(one.text);
    const auto parsed = parse_web_address(one.text);
    REQUIRE(parsed.ok());
    CHECK(parsed->address == one.address);
    CHECK(parsed->port == one.port);
  }
}

TEST_CASE("What --http cannot mean is refused with what it can", "[tools][web_address]") {
  using namespace std::string_literals;
  for (const std::string& text : {""s,
                                  ":"s,
                                  "65536"s,
                                  "-1"s,
                                  ":-1"s,
                                  "+1"s,
                                  ":99999999999999"s,
                                  "8477 "s,
                                  "127.0.0.1:"s,
                                  "127.0.0.1:x"s,
                                  "name:80"s,
                                  "1.2.3:80"s,
                                  "1.2.3.256:80"s,
                                  "::1"s,
                                  "::1:8477"s,
                                  "[::1"s,
                                  "[::1]8477"s,
                                  "[::1]:"s,
                                  "[1.2.3.4]:5"s,
                                  "[::1%lo]:5"s,
                                  "[]:5"s,
                                  "http://127.0.0.1:80"s,
                                  "127.0.0.1\0:80"s,
                                  "127.0.0.1:80\0"s,
                                  "[::1\0]:80"s,
                                  "*:80"s}) {
    INFO(text);
    const auto parsed = parse_web_address(text);
    REQUIRE(parsed.status().code() == Code::invalid_argument);
    CHECK(test::says(parsed.status(), "127.0.0.1:8477"));
  }
}

TEST_CASE("The port of an address", "[tools][web_address]") {
  const auto port_in = [](const char* text) {
    const auto parsed = parse_web_address(text);
    return parsed.ok() ? parsed->port : 0;
  };
  REQUIRE(port_in("127.0.0.1:8477") == 8477);
  REQUIRE(port_in(":8477") == 8477);
  REQUIRE(port_in("8477") == 8477);
  REQUIRE(port_in("[::1]:80") == 80);
  for (const char* none : {"", "no", "host:", ":0", ":65536", ":-1", ":8x"}) {
    CAPTURE(none);
    REQUIRE(port_in(none) == 0);
  }
}

TEST_CASE("Loopback is told from the rest", "[tools][web_address]") {
  CHECK(WebAddress{"127.0.0.1", 1}.is_loopback());
  CHECK(WebAddress{"127.8.0.1", 1}.is_loopback());
  CHECK(WebAddress{"::1", 1}.is_loopback());
  for (const char* other :
       {"0.0.0.0", "::", "192.168.1.2", "128.0.0.1", "::ffff:127.0.0.1", "fe80::1"}) {
    CHECK_FALSE(WebAddress{other, 1}.is_loopback());
  }
}

TEST_CASE("The page's addresses can be opened", "[tools][web_address]") {
  CHECK(page_urls({"127.0.0.1", 80}, "") == std::vector<std::string>{"http://127.0.0.1:80/"});
  CHECK(page_urls({"::1", 8477}, "abc") ==
        std::vector<std::string>{"http://[::1]:8477/?token=abc"});
  const auto everywhere = page_urls({"0.0.0.0", 8477}, "abc");
  CHECK(everywhere.back() == "http://127.0.0.1:8477/?token=abc");
  for (const std::string& url : everywhere) CHECK(url.find("0.0.0.0") == std::string::npos);
}

}  // namespace engram
