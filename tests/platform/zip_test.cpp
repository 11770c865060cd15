#include "platform/zip.h"

#include <string>

#include "tests/support/archive_files.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"

using namespace engram;
using namespace engram::test;

namespace {

std::string content_of(const ZipReader& zip, const std::string& name) {
  const ZipReader::Member* member = zip.find(name);
  REQUIRE(member != nullptr);
  const auto content = zip.read(*member, 1 << 20);
  REQUIRE(content.ok());
  return {reinterpret_cast<const char*>(content.value().data()), content.value().size()};
}

const std::string kPoem(5000, 'x');

std::string sample() {
  return zip_archive({{"a.txt", "stored", false},
                      {"d/b.txt", kPoem, true},
                      {"empty", "", false},
                      {"empty too", "", true}});
}

}  // namespace

TEST_CASE("members of an archive are read", "[platform][zip]") {
  const std::string file = sample();
  CHECK(ZipReader::looks_like_zip(bytes_of(file)));
  const auto zip = ZipReader::parse(bytes_of(file), "x.zip");
  REQUIRE(zip.ok());
  CHECK(zip.value().members().size() == 4);
  CHECK(content_of(zip.value(), "a.txt") == "stored");
  CHECK(content_of(zip.value(), "d/b.txt") == kPoem);
  CHECK(content_of(zip.value(), "empty").empty());
  CHECK(content_of(zip.value(), "empty too").empty());
  CHECK(zip.value().find("absent") == nullptr);
  // A comment may follow, even one that looks like an end.
  const std::string comment = "PK\5\6 here";
  std::string commented = file;
  commented.replace(commented.size() - 2, 2, little_endian(comment.size(), 2));
  commented += comment;
  CHECK(ZipReader::parse(bytes_of(commented), "x.zip").ok());
}

TEST_CASE("an archive cut off anywhere is refused or reads right", "[platform][zip]") {
  const std::string file = sample();
  for (std::size_t size = 0; size < file.size(); ++size) {
    const std::string cut = file.substr(0, size);
    CHECK_FALSE(ZipReader::parse(bytes_of(cut), "x.zip").ok());
  }
}

TEST_CASE("a flipped bit is refused or changes nothing that is read", "[platform][zip]") {
  const std::string file = sample();
  for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {
    std::string flipped = file;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    const auto zip = ZipReader::parse(bytes_of(flipped), "x.zip");
    if (!zip.ok()) continue;
    const ZipReader::Member* member = zip.value().find("d/b.txt");
    if (!member) continue;
    const auto content = zip.value().read(*member, 1 << 20);
    if (!content.ok()) continue;
    CHECK(std::string(reinterpret_cast<const char*>(content.value().data()),
                      content.value().size()) == kPoem);
  }
}

TEST_CASE("bombs are refused before memory is taken", "[platform][zip]") {
  const std::string honest = zip_archive({{"zeros", std::string(1'000'000, '\0'), true}});
  const auto zip = ZipReader::parse(bytes_of(honest), "x.zip");
  REQUIRE(zip.ok());
  CHECK(says(zip.value().read(zip.value().members()[0], 999'999).status(), "more than the 999999"));
  CHECK(zip.value().read(zip.value().members()[0], 1'000'000).ok());

  ZipReader::Member liar = zip.value().members()[0];
  liar.size = 3'000'000'000;
  CHECK(says(zip.value().read(liar, std::size_t{1} << 40).status(), "impossible size"));
  liar.size = 999'999;  // more comes out than it says
  CHECK(says(zip.value().read(liar, 1 << 20).status(), "damaged"));
  liar = zip.value().members()[0];
  liar.header = 0xfffffff0;
  CHECK(says(zip.value().read(liar, 1 << 20).status(), "no header"));
  liar = zip.value().members()[0];
  liar.compressed = 0xfffffff0;
  CHECK(says(zip.value().read(liar, 1 << 20).status(), "cut off"));
}

TEST_CASE("what is not supported is said", "[platform][zip]") {
  std::string file = sample();
  const std::size_t end = file.size() - 22;
  std::string zip64 = file;
  zip64.replace(end + 16, 4, "\xff\xff\xff\xff");
  CHECK(says(ZipReader::parse(bytes_of(zip64), "x.zip").status(), "zip64"));
  const std::size_t directory = file.find("PK\1\2");
  std::string encrypted = file;
  encrypted[directory + 8] = 1;
  CHECK(says(ZipReader::parse(bytes_of(encrypted), "x.zip").status(), "encrypted"));
  std::string method = file;
  method[directory + 10] = 12;
  const auto zip = ZipReader::parse(bytes_of(method), "x.zip");
  REQUIRE(zip.ok());
  CHECK(says(zip.value().read(zip.value().members()[0], 100).status(), "method 12"));
  CHECK_FALSE(ZipReader::looks_like_zip(bytes_of("PK")));
}
