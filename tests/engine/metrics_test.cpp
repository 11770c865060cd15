#include "engine/metrics.h"

#include <cmath>

#include "tests/support/catch.h"

namespace engram {

// numpy.random.RandomState(seed).permutation(count), as numpy 1.24 and 2.x print it.
TEST_CASE("metrics: numpy's permutations", "[engine][metrics]") {
  const std::vector<int> hundred = NumpyRandom(1993).permutation(100);
  CHECK(std::vector<int>(hundred.begin(), hundred.begin() + 10) ==
        std::vector<int>{68, 56, 78, 8, 23, 84, 90, 65, 74, 76});
  CHECK(NumpyRandom(1).permutation(10) == std::vector<int>{2, 9, 6, 4, 0, 3, 1, 7, 8, 5});
  NumpyRandom random(4294967295u);
  CHECK(random.permutation(5) == std::vector<int>{4, 1, 0, 2, 3});
  CHECK(random.permutation(7) == std::vector<int>{6, 3, 5, 1, 2, 0, 4});
  CHECK(NumpyRandom(3).permutation(1) == std::vector<int>{0});
  CHECK(NumpyRandom(3).permutation(0).empty());
}

TEST_CASE("metrics: task sizes", "[engine][metrics]") {
  CHECK(equal_task_sizes(100, 10).value() == std::vector<int>(10, 10));
  CHECK(equal_task_sizes(11, 3).value() == std::vector<int>{4, 4, 3});
  CHECK(equal_task_sizes(1, 1).value() == std::vector<int>{1});
  CHECK_FALSE(equal_task_sizes(3, 4).ok());
  CHECK_FALSE(equal_task_sizes(3, 0).ok());
  // Cars: 16, then 20 each.
  std::vector<int> cars(10, 20);
  cars[0] = 16;
  CHECK(growing_task_sizes(196, 16, 20).value() == cars);
  CHECK(growing_task_sizes(10, 4, 4).value() == std::vector<int>{4, 4, 2});
  CHECK(growing_task_sizes(10, 10, 0).value() == std::vector<int>{10});
  CHECK_FALSE(growing_task_sizes(10, 4, 0).ok());
  CHECK_FALSE(growing_task_sizes(10, 11, 1).ok());
}

TEST_CASE("metrics: average accuracy and forgetting", "[engine][metrics]") {
  const std::vector<std::vector<double>> r{{90}, {80, 70}, {85, 60, 50}};
  CHECK(average_accuracy(r, 0) == 90);
  CHECK(average_accuracy(r, 2) == 65);
  CHECK(average_forgetting(r, 0) == 0);
  CHECK(average_forgetting(r, 1) == 10);
  CHECK(average_forgetting(r, 2) == 7.5);

  const double none = std::nan("");
  const std::vector<std::vector<double>> gaps{{none}, {none, 70}, {none, 60, 50}};
  CHECK(average_accuracy(gaps, 2) == 55);
  CHECK(average_forgetting(gaps, 2) == 10);
  CHECK(std::isnan(average_accuracy(gaps, 0)));
}

}  // namespace engram
