#include "engine/store_history.h"

#include "engine/store.h"
#include "tests/support/catch.h"
#include "tests/support/fault_files.h"
#include "tests/support/small_store.h"
#include "tests/support/temp_directory.h"

namespace engram {
namespace {

using test::small_batch;
using test::small_config;
using test::TempDirectory;

}  // namespace

TEST_CASE("what is learned and forgotten again and again leaves no steps behind",
          "[engine][store_history]") {
  const TempDirectory directory(TempDirectory::Where::memory);
  test::UnsyncedFiles files;
  Store store = Store::create(directory / "state", small_config(), files).value();
  REQUIRE(store.learn(small_batch(0)).ok());
  const std::size_t steps = store.steps()->size();
  for (int round = 0; round < 20; ++round) {
    SampleBatch batch = small_batch(1);
    for (std::string& label : batch.labels) label = "draft";
    REQUIRE(store.learn(batch).ok());
    REQUIRE(store.forget("draft").ok());  // compacts
    CHECK(store.steps()->size() == steps);
  }
  CHECK(store.history().first_ids.size() <= steps + 1);  // the last one may go on
  Store again = [&] {
    { const Store closed = std::move(store); }
    return Store::open(directory / "state", files).value();
  }();
  CHECK(again.steps()->size() == steps);
  REQUIRE(again.undo(int(steps)).ok());
  CHECK(again.learner().samples() == 0);
}

}  // namespace engram
