#include "engine/nearest_name.h"

#include <vector>

#include "tests/support/catch.h"

namespace engram {

TEST_CASE("a slip of the finger is understood, another word is not", "[engine][nearest_name]") {
  const std::vector<std::string> names{"mug", "kettle", "plant", "kettles"};
  CHECK(nearest_name("ketle", names) == "kettle");
  CHECK(nearest_name("kettle", names) == "kettle");
  CHECK(nearest_name("plnat", names) == "plant");
  CHECK(nearest_name("mag", names) == "mug");
  CHECK(nearest_name("cup", names).empty());
  CHECK(nearest_name("bottle", names) == "kettle");
  CHECK(nearest_name("window", names).empty());
  CHECK(nearest_name("", names).empty());
  CHECK(nearest_name("mug", {}).empty());
}

}  // namespace engram
