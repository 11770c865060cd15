// Memory that runs out while an open store is changed: what it holds is what the disk has, and the same
// process goes on.
#include <functional>
#include <new>

#include "engine/adding_up.h"
#include "engine/state_file.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/catch.h"
#include "tests/support/fault_files.h"
#include "tests/support/says.h"
#include "tests/support/small_store.h"
#include "tests/support/temp_directory.h"
#include "tests/support/thoroughness.h"

namespace engram {
namespace {

using test::content;
using test::copy_store;
using test::large_batch;
using test::reopened;
using test::says;
using test::small_batch;
using test::small_config;
using test::StoreContent;
using test::TempDirectory;

// Smaller ones may be of destructors of the JSON library, which cannot fail; rows, labels, records and
// sums of large_batch() are all larger.
constexpr std::size_t kLeastBytes = 300;

// `change`, with every allocation in it failing in turn. Returns how many did.
int fail_each(const std::string& base, const std::string& state,
              const std::function<Status(Store&)>& change) {
  test::UnsyncedFiles files;
  const StoreContent before = reopened(base).value();
  int failures = 0;
  for (long n = 1;; n += test::every()) {
    CAPTURE(n);
    copy_store(base, state);
    StoreContent last;
    bool failed = false, goes_on = false;
    {
      Store store = Store::open(state, files).value();
      Status status;
      bool threw = false;
      test::fail_allocation(n, kLeastBytes);
      try {
        status = change(store);
      } catch (const std::bad_alloc&) {
        threw = true;
      }
      failed = test::fail_allocation(0);
      CAPTURE(status.what());
      if (!failed) REQUIRE((status.ok() && !threw));
      const StoreContent now = content(store);
      if (!status.ok() && says(status, "Nothing was changed")) REQUIRE(now == before);
      // It goes on, or says that it cannot.
      const Status next = store.learn(small_batch(9));
      goes_on = next.ok();
      if (!goes_on) REQUIRE(says(next, "writes nothing more"));
      last = content(store);
    }
    const StoreContent found = reopened(state).value();
    if (goes_on) REQUIRE(found == last);
    REQUIRE(verify_store(state)->ok);
    if (!failed) return failures;
    ++failures;
  }
}

}  // namespace

TEST_CASE("store: memory that runs out leaves memory and disk the same",
          "[engine][store][memory]") {
  if (!test::counts_allocations()) return;
  const TempDirectory directory(TempDirectory::Where::memory);
  const bool keeps = GENERATE(true, false);
  LearnerConfig config = small_config();
  config.keep_features = keeps;
  const std::string base = directory / "base", state = directory / "state",
                    file = directory / "other.engram";
  for (const std::string& name : {base, directory / "other"}) {
    Store store = Store::create(name, config).value();
    REQUIRE(store.learn(small_batch(0)).ok());
    REQUIRE(store.end_task().ok());
    REQUIRE(store.learn(large_batch()).ok());
    if (name != base) REQUIRE(export_state(store, file, "").ok());
  }
  CHECK(fail_each(base, state, [](Store& store) { return store.undo().status(); }) >
        10 / test::every());
  CHECK(fail_each(base, state, [](Store& store) {
          return store.relabel_last(1, "green").status();
        }) > 10 / test::every());
  CHECK(fail_each(base, state, [](Store& store) { return store.rename("red", "green").status(); }) >
        10 / test::every());
  CHECK(fail_each(base, state, [](Store& store) { return store.learn(large_batch()); }) >
        4 / test::every());
  CHECK(fail_each(base, state, [](Store& store) { return store.end_task().status(); }) >
        10 / test::every());
  const AddedState other = read_state_file(file).value();
  CHECK(fail_each(base, state, [&](Store& store) { return store.merge(other, "x").status(); }) >
        10 / test::every());
}

}  // namespace engram
