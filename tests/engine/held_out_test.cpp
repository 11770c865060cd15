#include "engine/held_out.h"

#include <algorithm>
#include <set>

#include "tests/support/catch.h"

namespace engram {

TEST_CASE("held out: one in ten of each class, none of small ones", "[engine][held_out]") {
  std::vector<int> labels;
  const int sizes[] = {4, 5, 14, 15, 100, 0, 37};
  const int wanted[] = {0, 1, 1, 2, 10, 0, 4};
  for (int k = 0; k < 7; ++k) labels.insert(labels.end(), std::size_t(sizes[k]), k);
  const std::vector<int> chosen = choose_held_out(labels, 7, 1);
  REQUIRE(std::is_sorted(chosen.begin(), chosen.end()));
  REQUIRE(std::set<int>(chosen.begin(), chosen.end()).size() == chosen.size());
  int counts[7] = {};
  for (const int i : chosen) ++counts[labels[std::size_t(i)]];
  for (int k = 0; k < 7; ++k) REQUIRE(counts[k] == wanted[k]);
  REQUIRE(choose_held_out(labels, 7, 1) == chosen);
  REQUIRE(choose_held_out(labels, 7, 2) != chosen);
}

TEST_CASE("held out: another class does not change the choice", "[engine][held_out]") {
  std::vector<int> labels(30, 0);
  const std::vector<int> alone = choose_held_out(labels, 1, 5);
  labels.insert(labels.end(), 40, 1);
  std::vector<int> both = choose_held_out(labels, 2, 5);
  std::erase_if(both, [](int i) { return i >= 30; });
  REQUIRE(both == alone);
}

}  // namespace engram
