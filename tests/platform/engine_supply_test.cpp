#include "platform/engine_supply.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <string>
#include <utility>

#include "platform/engine_file.h"
#include "platform/file.h"
#include "tests/support/archive_files.h"
#include "tests/support/catch.h"
#include "tests/support/fake_engine_library.h"
#include "tests/support/fault_files.h"
#include "tests/support/says.h"
#include "tests/support/small_model.h"
#include "tests/support/temp_directory.h"

using namespace engram;
using namespace engram::test;

namespace {

// A device, its folder, and what was said.
struct Device {
  TempDirectory folder;
  FakeEngineLibrary library, crashing{"fake:crash"};  // the same GPU: only building differs
  std::string notes;
  EngineOrder order(FakeEngineLibrary& with) {
    return {.library = &with,
            .cache = folder / "engines",
            .model_sha256 = std::string(64, 'a'),
            .request = small_request(folder),
            .on_note = [this](const std::string& note) { notes += note + "\n"; }};
  }
  Status again(FakeEngineLibrary& with) {  // as `engram model engine` asks for it
    EngineOrder asked = order(with);
    asked.try_again = true;
    return supply_engine(asked).status();
  }
  std::string engine_file(const char* extension = ".engine") const {
    for (const auto& entry : std::filesystem::directory_iterator(folder / "engines")) {
      if (entry.path().extension() == extension) return entry.path().string();
    }
    return {};
  }
  std::string refusal() const { return engine_file(".refused"); }
};

}  // namespace

TEST_CASE("an engine is built once and then taken from the cache",
          "[platform][engine_supply][child]") {
  Device device;
  REQUIRE(supply_engine(device.order(device.library)).ok());
  CHECK(device.notes.empty());
  const auto built = device.library.opened;
  CHECK_FALSE(device.engine_file().empty());
  // Building would crash now, so it is not built.
  const auto again = supply_engine(device.order(device.crashing));
  INFO(again.status().what());
  REQUIRE(again.ok());
  CHECK(device.crashing.opened == built);
  CHECK(device.notes.empty());
}

TEST_CASE("a damaged or foreign engine is thrown away and built again",
          "[platform][engine_supply][child]") {
  Device device;
  REQUIRE(supply_engine(device.order(device.library)).ok());
  const auto built = device.library.opened;
  REQUIRE(replace_file(device.engine_file(), bytes_of("ENGRAMTE, but hostile")).ok());
  CHECK(says(supply_engine(device.order(device.crashing)).status(), "crashed"));
  CHECK(device.crashing.opened.empty());  // never given to the library
  device.notes.clear();
  REQUIRE(device.again(device.library).ok());
  CHECK(says(device.notes, "It is built again"));
  CHECK(device.library.opened == built);
  REQUIRE(supply_engine(device.order(device.crashing)).ok());
}

TEST_CASE("an engine that the GPU does not take is built again",
          "[platform][engine_supply][child]") {
  Device device;
  REQUIRE(supply_engine(device.order(device.library)).ok());
  device.library.refuse_to_open = 1;
  REQUIRE(supply_engine(device.order(device.library)).ok());
  CHECK(says(device.notes, "does not take this engine. It is built again"));
  device.library.refuse_to_open = 3;
  CHECK(supply_engine(device.order(device.library)).status().code() == Code::device_failure);
  // Nor is one that was just built: minutes for nothing at every start.
  CHECK(says(supply_engine(device.order(device.library)).status(), "It was tried before"));
  // What kept the GPU from it has passed: the engine is there.
  CHECK(supply_engine(device.order(device.library)).ok());
  CHECK(device.refusal().empty());
}

TEST_CASE(
    "what cannot be built is not tried at every start, but when somebody asks or after an update",
    "[platform][engine_supply][child]") {
  Device device;
  FakeEngineLibrary refusing(GENERATE("fake:refuses", "fake:crash", "fake:throws", "fake:silent"));
  const Status first = supply_engine(device.order(refusing)).status();
  CAPTURE(refusing.name(), first.what());
  CHECK_FALSE(first.ok());
  CHECK(says(device.notes, "The engine is built in float"));  // it was tried, and refused as well
  REQUIRE_FALSE(device.refusal().empty());
  device.notes.clear();

  // It would work now, so it is not tried: neither where it may be built nor where it may not.
  for (const bool may_build : {true, false}) {
    EngineOrder order = device.order(device.library);
    order.may_build = may_build;
    const Status status = supply_engine(order).status();
    CHECK(status.code() == Code::not_supported);
    CHECK(says(status, first.what()));  // the same reason
    CHECK(says(status, "or by: engram model engine NAME"));
  }
  CHECK(device.notes.empty());

  CHECK_FALSE(device.again(refusing).ok());  // asked for in vain: noted anew
  CHECK_FALSE(device.refusal().empty());
  SECTION("somebody asks for it") {
    REQUIRE(device.again(device.library).ok());
  }
  SECTION("after a day") {
    namespace fs = std::filesystem;
    fs::last_write_time(device.refusal(),
                        fs::file_time_type::clock::now() - std::chrono::hours(25));
    REQUIRE(supply_engine(device.order(device.library)).ok());
  }
  SECTION("after an update of the driver") {
    device.library.driver = 13000;
    REQUIRE(supply_engine(device.order(device.library)).ok());
  }
  CHECK(device.refusal().empty());
  CHECK(supply_engine(device.order(device.library)).ok());
}

TEST_CASE("a build that was stopped or wanted memory is tried again at the next start",
          "[platform][engine_supply][child]") {
  Device device;
  FakeEngineLibrary slow("fake:slow");
  const std::atomic<bool> stop = true;
  EngineOrder order = device.order(slow);
  order.build.stop = &stop;
  CHECK(supply_engine(order).status().code() == Code::busy);
  CHECK(device.refusal().empty());
  CHECK(device.notes.empty());  // not tried in float either
  REQUIRE(supply_engine(device.order(device.library)).ok());
}

TEST_CASE("a note that is damaged or foreign is not believed", "[platform][engine_supply][child]") {
  Device device;
  REQUIRE_FALSE(supply_engine(device.order(device.crashing)).ok());
  const std::string note = device.refusal();
  auto bytes = read_file(note, 1 << 16);
  REQUIRE(bytes.ok());
  SECTION("a bit of its sentence") {
    bytes->back() ^= std::byte{1};
  }
  SECTION("cut off") {
    bytes->pop_back();
  }
  SECTION("written by another") {
    Device other;
    REQUIRE_FALSE(supply_engine(other.order(other.crashing)).ok());
    bytes = read_file(other.refusal(), 1 << 16);
    REQUIRE(bytes.ok());
  }
  REQUIRE(replace_file(note, *bytes).ok());
  device.notes.clear();
  REQUIRE(supply_engine(device.order(device.library)).ok());
  CHECK(says(device.notes, note));
  CHECK(device.refusal().empty());
}

TEST_CASE("a refusal that cannot be kept is told, and it is tried again next time",
          "[platform][engine_supply][child]") {
  Device device;
  REQUIRE(EngineCache::open(device.folder / "engines").ok());  // the secret is there
  FaultFiles files(FaultFiles::Fault::fail_after, 0, EROFS);
  EngineOrder order = device.order(device.crashing);
  order.files = &files;
  CHECK(says(supply_engine(order).status(), "crashed"));
  CHECK(files.struck());
  CHECK(says(device.notes, "It is tried again next time"));
  CHECK(device.refusal().empty());
  REQUIRE(supply_engine(device.order(device.library)).ok());
}

TEST_CASE("a note that cannot be removed does not stop who asks",
          "[platform][engine_supply][child]") {
  Device device;
  REQUIRE_FALSE(supply_engine(device.order(device.crashing)).ok());
  FaultFiles files(FaultFiles::Fault::fail_after, 0, EROFS);
  EngineOrder order = device.order(device.library);
  order.files = &files;
  order.try_again = true;
  CHECK(supply_engine(order).ok());
  CHECK(files.struck());
}

TEST_CASE("without a cache it works, and says so", "[platform][engine_supply][child]") {
  Device device;
  REQUIRE(replace_file(device.folder / "engines", bytes_of("a file in the way")).ok());
  REQUIRE(supply_engine(device.order(device.library)).ok());
  CHECK(says(device.notes, device.folder / "engines"));
  CHECK_FALSE(device.library.opened.empty());
}

TEST_CASE("an engine that cannot be kept works, and is built again next time",
          "[platform][engine_supply][child]") {
  Device device;
  REQUIRE(EngineCache::open(device.folder / "engines").ok());  // the secret is there
  using Fault = FaultFiles::Fault;
  const auto [fault, error] =
      GENERATE(std::pair{Fault::full_after, ENOSPC}, std::pair{Fault::fail_after, EIO},
               std::pair{Fault::fail_after, EROFS});
  FaultFiles files(fault, 0, error);
  EngineOrder order = device.order(device.library);
  order.files = &files;
  const auto engine = supply_engine(order);
  INFO(engine.status().what());
  REQUIRE(engine.ok());
  CHECK(files.struck());
  CHECK(says(device.notes, "The engine works, and is built again next time"));
  CHECK(device.engine_file().empty());
  device.notes.clear();
  CHECK(
      says(supply_engine(device.order(device.crashing)).status(), "crashed"));  // it is built again
  device.notes.clear();
  REQUIRE(device.again(device.library).ok());
  CHECK(device.notes.empty());
  CHECK_FALSE(device.engine_file().empty());
}

TEST_CASE("what cannot be in half is built in float, and kept",
          "[platform][engine_supply][child]") {
  Device device;
  FakeEngineLibrary only_float("fake:float-only");
  REQUIRE(supply_engine(device.order(only_float)).ok());
  CHECK(says(device.notes, "half is not for this one. The engine is built in float"));
  CHECK(says(std::string(reinterpret_cast<const char*>(only_float.opened.data()), 6), "float "));
  device.notes.clear();
  REQUIRE(supply_engine(device.order(device.crashing)).ok());
  CHECK(device.notes.empty());
}

TEST_CASE("what is refused in half is tried once in float, and kept",
          "[platform][engine_supply][child]") {
  Device device;
  FakeEngineLibrary picky(GENERATE("fake:half-refused", "fake:half-crash"));
  const bool was_refused = GENERATE(false, true);  // in both, before somebody asked again
  if (was_refused) REQUIRE_FALSE(supply_engine(device.order(device.crashing)).ok());
  device.notes.clear();
  REQUIRE(device.again(picky).ok());
  CHECK(says(device.notes, "The engine is built in float"));
  CHECK(says(std::string(reinterpret_cast<const char*>(picky.opened.data()), 6), "float "));
  CHECK(device.refusal().empty());
  device.notes.clear();
  REQUIRE(supply_engine(device.order(device.crashing)).ok());  // from the cache
  CHECK(device.notes.empty());
}

TEST_CASE("no GPU, no engine yet, a builder already at work", "[platform][engine_supply]") {
  Device device;
  EngineOrder order = device.order(device.library);
  order.may_build = false;
  CHECK(supply_engine(order).status().code() == Code::not_found);
  const auto lock = FileLock::acquire(device.folder / "engines/lock");
  REQUIRE(lock.ok());
  CHECK(supply_engine(device.order(device.library)).status().code() == Code::busy);
  device.library.has_gpu = false;
  CHECK(says(supply_engine(device.order(device.library)).status(), "no GPU"));
}
