#include "tools/adapt/adapt_checks.h"

#include <limits>

#include "tests/support/catch.h"
#include "tests/support/says.h"
#include "tests/support/temp_directory.h"

namespace engram {
namespace {

using test::says;

FirstTask task_of(std::vector<int> sizes, int held_out) {
  FirstTask task;
  for (int k = 0; k < int(sizes.size()); ++k) {
    task.classes.push_back("class" + std::to_string(k));
    task.labels.insert(task.labels.end(), std::size_t(sizes[std::size_t(k)]), k);
  }
  for (int i = 0; i < held_out; ++i) task.held_out.push_back(i);
  return task;
}

Status judged(std::vector<int> sizes, int held_out, int batch) {
  AdaptSettings settings;
  settings.batch = batch;
  return check_first_task(task_of(std::move(sizes), held_out), settings);
}

}  // namespace

TEST_CASE("adapt checks: a first task that is too small is refused", "[tools][adapt]") {
  CHECK(judged({30, 30}, 6, 48).ok());
  CHECK(judged({30, 24}, 6, 48).ok());
  CHECK(says(judged({30, 23}, 6, 48), "47 pictures to train on are fewer than one batch of 48"));
  CHECK(says(judged({100}, 10, 48), "one class, \"class0\""));
  CHECK(says(judged({}, 0, 48), "No picture could be read"));
  CHECK(says(judged({8, 7}, 0, 4), "15 pictures to train on, of 2 classes, are too few"));
  CHECK(judged({8, 8}, 0, 4).ok());
  CHECK(says(judged(std::vector<int>(20, 4), 0, 16), "5 a class"));
  CHECK(judged(std::vector<int>(20, 5), 0, 16).ok());
  for (const Status& refused : {judged({100}, 0, 48), judged({5, 5}, 0, 48)}) {
    CHECK(refused.code() == Code::invalid_argument);
    CHECK(says(refused, "Nothing was changed"));
  }
}

TEST_CASE("adapt checks: small classes are named", "[tools][adapt]") {
  CHECK(small_classes_note(task_of({5, 9}, 0)).empty());
  CHECK(says(small_classes_note(task_of({4, 9, 1}, 0)), "of class0 (4), class2 (1): all"));
  CHECK(says(small_classes_note(task_of({1, 1, 1, 1, 1, 1, 1}, 0)), "class4 (1) and 2 more:"));
}

TEST_CASE("adapt checks: room on disk and memory", "[tools][adapt]") {
  const test::TempDirectory home;
  CHECK(check_room(home.path(), 1).ok());
  const Status full = check_room(home.path(), std::numeric_limits<std::int64_t>::max());
  CHECK(full.code() == Code::io_failure);
  CHECK(says(full, "--home"));
  CHECK(check_room(home / "not/there", std::numeric_limits<std::int64_t>::max()).ok());
  CHECK(usual_adapt_memory() > 1'000'000);
}

}  // namespace engram
