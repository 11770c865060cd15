#include "platform/engine_file.h"

#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "tests/support/archive_files.h"
#include "tests/support/catch.h"
#include "tests/support/fault_files.h"
#include "tests/support/says.h"
#include "tests/support/temp_directory.h"

using namespace engram;
using namespace engram::test;

namespace {

EngineKey key() {
  EngineKey key;
  key.model_sha256 = std::string(64, 'a');
  key.device = {.gpu = "Orin, compute 8.7",
                .library = "TensorRT 10.3.0",
                .driver = 12060,
                .multiprocessors = 8};
  key.request.output = "features";
  return key;
}

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

TEST_CASE("an engine comes back as it was written", "[platform][engine_file]") {
  const TempDirectory folder;
  const auto cache = EngineCache::open(folder / "engines");
  REQUIRE(cache.ok());
  CHECK(cache.value().read(key()).status().code() == Code::not_found);
  const std::string engine("an engine\0of bytes", 18);
  REQUIRE(cache.value().write(key(), bytes_of(engine)).ok());
  const auto again = EngineCache::open(folder / "engines");  // another process, the same secret
  REQUIRE(again.ok());
  const auto read = again.value().read(key());
  INFO(read.status().what());
  REQUIRE(read.ok());
  CHECK(text_of(read.value()) == engine);
  struct stat info {};
  REQUIRE(::stat((folder / "engines/secret").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
}

TEST_CASE("a write that fails leaves the engine before it, or none", "[platform][engine_file]") {
  const std::string before = "the engine before", after = "another engine";
  const bool is_first = GENERATE(true, false);
  int calls = 1;
  for (int at = 0; at < calls; ++at) {
    const TempDirectory folder;
    const auto whole = EngineCache::open(folder / "engines");
    REQUIRE(whole.ok());
    if (!is_first) REQUIRE(whole->write(key(), bytes_of(before)).ok());
    FaultFiles count;
    if (at == 0) {  // how many calls there are
      const TempDirectory other;
      const auto counted = EngineCache::open(other / "engines", count);
      REQUIRE(counted.ok());
      const int opening = count.calls();
      REQUIRE(counted->write(key(), bytes_of(after)).ok());
      calls = count.calls() - opening;
      REQUIRE(calls > 3);
    }
    FaultFiles files(FaultFiles::Fault::fail_after, at);
    const auto cache = EngineCache::open(folder / "engines", files);
    REQUIRE(cache.ok());
    CAPTURE(at, is_first);
    const Status written = cache->write(key(), bytes_of(after));
    REQUIRE(files.struck());
    const auto read = whole->read(key());
    if (read.ok()) {
      const std::string text = text_of(read.value());
      CHECK((text == after || (!is_first && text == before)));
      if (written.ok()) CHECK(text == after);
    } else {
      CHECK_FALSE(written.ok());
      CHECK(is_first);
      CHECK(read.status().code() == Code::not_found);
    }
  }
}

TEST_CASE("an engine is for one model, GPU, library, driver, precision and shape",
          "[platform][engine_file]") {
  const EngineKey one = key();
  std::vector<EngineKey> others(10, one);
  others[0].model_sha256[0] = 'b';
  others[1].device.gpu = "Orin, compute 8.6";
  others[2].device.library = "TensorRT 10.4.0";
  others[3].request.precision = Precision::full;
  others[4].request.batch = 1;
  others[5].request.width = 225;
  others[6].request.height = 225;
  others[7].request.output = "tokens";
  others[8].device.driver = 13000;
  others[9].device.multiprocessors = 4;
  const TempDirectory folder;
  const auto cache = EngineCache::open(folder / "engines");
  REQUIRE(cache.ok());
  REQUIRE(cache.value().write(one, bytes_of("engine")).ok());
  for (const EngineKey& other : others) {
    CHECK(other.file_name() != one.file_name());
    CHECK(cache.value().read(other).status().code() == Code::not_found);
    // Under another one's name it is ours, but for something else.
    std::filesystem::copy_file(cache.value().path(one), cache.value().path(other));
    CHECK(says(cache.value().read(other).status(), "for something else"));
  }
}

TEST_CASE("what an update leaves behind is removed when an engine is written, and nothing else",
          "[platform][engine_file]") {
  const TempDirectory folder;
  const auto cache = EngineCache::open(folder / "engines");
  REQUIRE(cache.ok());
  const EngineKey now = key();
  EngineKey old_library = now, old_driver = now, old_float = now;
  old_library.device.library = "TensorRT 10.2.0";
  old_driver.device.driver = 12040;
  old_driver.device.multiprocessors = 4;
  old_float.device.library = "TensorRT 10.2.0";
  old_float.request.precision = Precision::full;
  std::vector<EngineKey> others(6, now);
  others[0].device.multiprocessors = 4;  // the other power mode
  others[1].request.precision = Precision::full;
  others[2].model_sha256[0] = 'b';
  others[3].request.batch = 1;
  others[4].request.height = 225;
  others[5].device.gpu = "Thor, compute 11.0";
  for (std::size_t i = 2; i < others.size(); ++i) others[i].device.library = "TensorRT 10.2.0";
  // Written elsewhere with the same secret, so that they do not remove each other.
  std::filesystem::create_directory(folder / "desk");
  std::filesystem::copy_file(folder / "engines/secret", folder / "desk/secret");
  const auto desk = EngineCache::open(folder / "desk");
  REQUIRE(desk.ok());
  const auto put = [&](const EngineKey& one) {
    REQUIRE(desk->write(one, bytes_of("engine")).ok());
    std::filesystem::rename(desk->path(one), cache->path(one));
  };
  for (const EngineKey& one : others) put(one);
  for (const EngineKey& one : {old_library, old_driver, old_float}) put(one);
  REQUIRE(desk->write_refusal(old_driver, "it was refused").ok());
  std::filesystem::rename(desk->refusal_path(old_driver), cache->refusal_path(old_driver));
  REQUIRE(replace_file(folder / "engines/strange.engine", bytes_of("of nobody")).ok());

  REQUIRE(cache->write(now, bytes_of("engine")).ok());
  CHECK(cache->read(now).ok());
  for (const EngineKey& one : others) CHECK(cache->read(one).ok());
  for (const EngineKey& one : {old_library, old_driver, old_float}) {
    CHECK_FALSE(std::filesystem::exists(cache->path(one)));
  }
  CHECK_FALSE(std::filesystem::exists(cache->refusal_path(old_driver)));
  CHECK(std::filesystem::exists(folder / "engines/strange.engine"));
  CHECK(std::filesystem::exists(folder / "engines/secret"));
}

TEST_CASE("why an engine was refused comes back, until one is written", "[platform][engine_file]") {
  const TempDirectory folder;
  const auto cache = EngineCache::open(folder / "engines");
  REQUIRE(cache.ok());
  CHECK(cache->read_refusal(key()).status().code() == Code::not_found);
  REQUIRE(cache->write_refusal(key(), "the operator Foo").ok());
  CHECK(cache->read_refusal(key()).value() == "the operator Foo");
  CHECK(cache->read(key()).status().code() == Code::not_found);
  EngineKey other = key();
  other.device.driver = 13000;  // after an update it is tried again
  CHECK(cache->read_refusal(other).status().code() == Code::not_found);
  // A note is ours as well, but never taken for an engine.
  std::filesystem::copy_file(cache->refusal_path(key()), cache->path(key()));
  CHECK(cache->read(key()).status().code() == Code::bad_data);
  REQUIRE(cache->write(key(), bytes_of("engine")).ok());
  CHECK(cache->read_refusal(key()).status().code() == Code::not_found);
  CHECK(cache->read(key()).ok());
  REQUIRE(cache->write_refusal(key(), "another time").ok());
  cache->forget_refusal(key());
  CHECK(cache->read_refusal(key()).status().code() == Code::not_found);
}

TEST_CASE("cut off anywhere, or with any bit flipped, an engine is not loaded",
          "[platform][engine_file]") {
  const TempDirectory folder(TempDirectory::Where::memory);
  const auto cache = EngineCache::open(folder / "engines");
  REQUIRE(cache.ok());
  REQUIRE(cache.value().write(key(), bytes_of("engine")).ok());
  const std::string path = cache.value().path(key());
  const auto whole = read_file(path, 1 << 20);
  REQUIRE(whole.ok());
  const auto refused = [&](const std::vector<std::byte>& bytes) {
    REQUIRE(replace_file(path, bytes).ok());
    const auto read = cache.value().read(key());
    return read.status().code() == Code::bad_data && says(read.status(), "built again") &&
           says(read.status(), path);
  };
  for (std::size_t size = 0; size < whole.value().size(); ++size) {
    if (!refused({whole.value().begin(), whole.value().begin() + std::ptrdiff_t(size)})) {
      FAIL("cut off at " << size);
    }
  }
  for (std::size_t bit = 0; bit < 8 * whole.value().size(); ++bit) {
    auto bytes = whole.value();
    bytes[bit / 8] ^= std::byte(1u << bit % 8);
    if (!refused(bytes)) FAIL("bit " << bit);
  }
  auto longer = whole.value();
  longer.push_back(std::byte{0});
  CHECK(refused(longer));
  REQUIRE(replace_file(path, whole.value()).ok());
  CHECK(cache.value().read(key()).ok());
}

TEST_CASE("an engine of another device is not loaded", "[platform][engine_file]") {
  const TempDirectory folder;
  const auto ours = EngineCache::open(folder / "ours");
  const auto theirs = EngineCache::open(folder / "theirs");
  REQUIRE(ours.ok());
  REQUIRE(theirs.ok());
  REQUIRE(theirs.value().write(key(), bytes_of("hostile")).ok());
  std::filesystem::copy_file(theirs.value().path(key()), ours.value().path(key()));
  CHECK(says(ours.value().read(key()).status(), "not made by this user on this machine"));
}

TEST_CASE("a cache that cannot be trusted or written says so", "[platform][engine_file]") {
  const TempDirectory folder;
  REQUIRE(replace_file(folder / "file", bytes_of("in the way")).ok());
  const auto blocked = EngineCache::open(folder / "file/engines");
  CHECK(blocked.status().code() == Code::io_failure);
  CHECK(says(blocked.status(), "file"));

  REQUIRE(EngineCache::open(folder / "open").ok());
  REQUIRE(::chmod((folder / "open/secret").c_str(), 0644) == 0);
  CHECK(says(EngineCache::open(folder / "open").status(), "others may read"));

  REQUIRE(EngineCache::open(folder / "short").ok());
  std::filesystem::resize_file(folder / "short/secret", 31);
  CHECK(says(EngineCache::open(folder / "short").status(), "damaged"));
}
