#include "tools/adapt/adapt_checkpoint.h"

#include "tests/support/catch.h"
#include "tests/support/fault_files.h"
#include "tests/support/says.h"
#include "tests/support/temp_directory.h"

namespace engram {
namespace {

AdaptCheckpoint some_checkpoint() {
  return {.pictures = 0x123456789abcdef0,
          .before = {7, 12},
          .model = "parent",
          .backbone = std::string(64, 'a'),
          .training = std::string("state\0of it", 11),
          .best = {1.5f, -2.0f, 3.25f}};
}

bool same(const AdaptCheckpoint& a, const AdaptCheckpoint& b) {
  return encode(a) == encode(b);
}

}  // namespace

TEST_CASE("adapt checkpoint: what was saved is loaded", "[tools][adapt_checkpoint]") {
  const AdaptCheckpoint saved = some_checkpoint();
  const auto read = parse_adapt_checkpoint(encode(saved), "file");
  REQUIRE(read.ok());
  CHECK(read->pictures == saved.pictures);
  CHECK((read->before.right == 7 && read->before.count == 12));
  CHECK(read->model == saved.model);
  CHECK(read->backbone == saved.backbone);
  CHECK(read->training == saved.training);
  CHECK(read->best == saved.best);

  const test::TempDirectory home;
  const auto file = AdaptCheckpointFile::open(home.path(), "child");
  REQUIRE(file.ok());
  CHECK_FALSE(file->load().value().has_value());
  REQUIRE(file->save(saved).ok());
  CHECK(same(file->load().value().value(), saved));
  CHECK(AdaptCheckpointFile::open(home.path(), "child").status().code() == Code::busy);
  CHECK(AdaptCheckpointFile::open(home.path(), "other").ok());
  REQUIRE(file->remove().ok());
  REQUIRE(file->remove().ok());  // there is none: as it should be
  CHECK_FALSE(file->load().value().has_value());
}

TEST_CASE("adapt checkpoint: any damage is found", "[tools][adapt_checkpoint]") {
  const std::vector<std::byte> good = encode(some_checkpoint());
  for (std::size_t size = 0; size < good.size(); ++size) {
    const auto cut = parse_adapt_checkpoint(std::span(good).first(size), "file");
    REQUIRE(cut.status().code() == Code::bad_data);
    REQUIRE(test::says(cut.status(), "--restart"));
  }
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::vector<std::byte> bad = good;
    bad[at] ^= std::byte{0x10};
    REQUIRE(parse_adapt_checkpoint(bad, "file").status().code() == Code::bad_data);
  }
  std::vector<std::byte> longer = good;
  longer.push_back(std::byte{0});
  REQUIRE(parse_adapt_checkpoint(longer, "file").status().code() == Code::bad_data);
}

TEST_CASE("adapt checkpoint: whatever fails, the old one or the new one is there",
          "[tools][adapt_checkpoint]") {
  using test::FaultFiles;
  AdaptCheckpoint old = some_checkpoint(), next = some_checkpoint();
  next.best = {9, 8, 7, 6};
  for (const FaultFiles::Fault fault : {FaultFiles::Fault::fail_once, FaultFiles::Fault::fail_after,
                                        FaultFiles::Fault::full_after}) {
    for (int at = 0;; ++at) {
      const test::TempDirectory home;
      REQUIRE(AdaptCheckpointFile::open(home.path(), "child")->save(old).ok());
      FaultFiles files(fault, at);
      const auto file = AdaptCheckpointFile::open(home.path(), "child", files);
      const bool saved = file->save(next).ok();
      const AdaptCheckpoint there = file->load().value().value();
      REQUIRE((same(there, next) || (!saved && same(there, old))));
      if (!files.struck()) break;
    }
  }
}

}  // namespace engram
