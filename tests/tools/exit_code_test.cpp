#include "tools/exit_code.h"

#include "tests/support/catch.h"

namespace engram {

TEST_CASE("exit codes follow sysexits", "[tools]") {
  REQUIRE(exit_code(Code::ok) == 0);
  REQUIRE(exit_code(Code::invalid_argument) == 64);
  REQUIRE(exit_code(Code::bad_data) == 65);
  REQUIRE(exit_code(Code::busy) == 75);
}

}  // namespace engram
