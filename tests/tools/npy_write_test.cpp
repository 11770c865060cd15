#include "tools/features/npy.h"

#include <cstring>
#include <vector>

#include "platform/file.h"
#include "tests/support/catch.h"
#include "tests/support/temp_directory.h"

namespace engram {

TEST_CASE("npy files are laid out as numpy reads them", "[tools][npy]") {
  const test::TempDirectory directory;
  const std::string path = directory / "a.npy";
  const std::vector<float> values{1, 2, 99, 3, 4, 99};  // two rows of two, stride three
  REQUIRE(write_npy(path, MatrixView<const float>{values.data(), 2, 2, 3}).ok());
  const auto bytes = read_file(path, 4096);
  REQUIRE(bytes.ok());
  const std::string text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  REQUIRE(text.substr(0, 8) == std::string("\x93NUMPY\x01\x00", 8));
  const std::size_t header = 10 + static_cast<unsigned char>(text[8]) + 256 * text[9];
  REQUIRE(header % 64 == 0);
  REQUIRE(text.find("'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), ") == 11);
  REQUIRE(text[header - 1] == '\n');
  float read[4];
  REQUIRE(text.size() == header + sizeof(read));
  std::memcpy(read, text.data() + header, sizeof(read));
  REQUIRE(std::vector<float>(read, read + 4) == std::vector<float>{1, 2, 3, 4});

  const std::vector<std::int32_t> labels{5, -1};
  REQUIRE(write_npy(path, labels).ok());
  const auto second = read_file(path, 4096);
  REQUIRE(std::string(reinterpret_cast<const char*>(second->data()), second->size())
              .find("'<i4', 'fortran_order': False, 'shape': (2,), ") != std::string::npos);
}

}  // namespace engram
