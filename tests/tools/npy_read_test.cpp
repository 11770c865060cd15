#include <cmath>
#include <limits>

#include "tests/support/archive_files.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"
#include "tools/features/npy.h"
#include "tools/features/npy_header.h"

namespace engram {
namespace {

using test::bytes_of;
using test::floats;
using test::npy;

std::vector<float> read_floats(const std::string& file) {
  return NpyView::parse(bytes_of(file), "a.npy").value().floats().value();
}
Status refused(const std::string& file) {
  return NpyView::parse(bytes_of(file), "a.npy").status();
}
std::string backwards(std::string text) {
  return {text.rbegin(), text.rend()};
}

}  // namespace

TEST_CASE("npy: every type and byte order is the same numbers", "[tools][npy]") {
  const std::vector<float> wanted{1, -2, 3};
  CHECK(read_floats(npy("<f4", "(3,)", floats({1, -2, 3}))) == wanted);
  CHECK(read_floats(npy(">f4", "(3,)", backwards(floats({3, -2, 1})))) == wanted);
  CHECK(read_floats(npy("<f2", "(3,)", std::string("\x00\x3c\x00\xc0\x00\x42", 6))) == wanted);
  CHECK(read_floats(npy(">f2", "(3,)", std::string("\x3c\x00\xc0\x00\x42\x00", 6))) == wanted);
  std::string doubles;
  for (const double value : {1.0, -2.0, 3.0}) {
    doubles.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  CHECK(read_floats(npy("<f8", "(3,)", doubles)) == wanted);
  CHECK(read_floats(npy("|i1", "(3,)", "\x01\xfe\x03")) == wanted);
  CHECK(read_floats(npy("<i2", "(3,)", std::string("\x01\0\xfe\xff\x03\0", 6))) == wanted);
  CHECK(read_floats(npy(">i4", "(3,)", std::string("\0\0\0\1\xff\xff\xff\xfe\0\0\0\3", 12))) ==
        wanted);
  CHECK(read_floats(npy("<i8", "(1,)", std::string("\xfe\xff\xff\xff\xff\xff\xff\xff"))) ==
        std::vector<float>{-2});
  CHECK(read_floats(npy("|u1", "(2,)", "\x01\xfe")) == std::vector<float>{1, 254});
  CHECK(read_floats(npy("|b1", "(2,)", std::string("\0\1", 2))) == std::vector<float>{0, 1});
}

TEST_CASE("npy: half floats at their edges", "[tools][npy]") {
  const auto half = [](std::uint16_t bits) {
    return read_floats(npy("<f2", "(1,)", test::little_endian(bits, 2))).at(0);
  };
  CHECK(half(0x0000) == 0.0f);
  CHECK(std::signbit(half(0x8000)));
  CHECK(half(0x0001) == 0x1p-24f);         // the smallest
  CHECK(half(0x03ff) == 1023 * 0x1p-24f);  // the largest subnormal
  CHECK(half(0x0400) == 0x1p-14f);         // the smallest normal
  CHECK(half(0x7bff) == 65504.0f);         // the largest
  CHECK(half(0xbc01) == -(1 + 0x1p-10f));
}

TEST_CASE("npy: Fortran order and all versions", "[tools][npy]") {
  const std::vector<float> rows{1, 2, 3, 4, 5, 6};
  for (const int version : {1, 2, 3}) {
    CHECK(read_floats(npy("<f4", "(2, 3)", floats(rows), false, version)) == rows);
  }
  CHECK(read_floats(npy("<f4", "(2, 3)", floats({1, 4, 2, 5, 3, 6}), true)) == rows);
  CHECK(read_floats(npy("<f4", "(6,)", floats(rows), true)) == rows);
  CHECK(read_floats(npy("<f4", "()", floats({7}))) == std::vector<float>{7});
  CHECK(read_floats(npy("<f4", "(0, 5)", "")).empty());
}

TEST_CASE("npy: text of both kinds", "[tools][npy]") {
  const auto texts = [](const std::string& file) {
    return NpyView::parse(bytes_of(file), "a.npy").value().texts();
  };
  const std::string utf32("c\0\0\0u\0\0\0p\0\0\0\x2b\x73\0\0\0\0\0\0\0\0\0\0", 24);
  CHECK(texts(npy("<U3", "(2,)", utf32)).value() == std::vector<std::string>{"cup", "猫"});
  CHECK(texts(npy("|S4", "(2,)", std::string("cup\0\xc3\xbc\0\0", 8))).value() ==
        std::vector<std::string>{"cup", "ü"});
  CHECK(test::says(texts(npy("<U1", "(1,)", std::string("\0\xd8\0\0", 4))).status(), "Unicode"));
  CHECK(test::says(texts(npy("<f4", "(1,)", floats({1}))).status(), "text was expected"));
}

TEST_CASE("npy: whole numbers stay whole", "[tools][npy]") {
  const auto whole = [](const std::string& file) {
    return NpyView::parse(bytes_of(file), "a.npy").value().whole_numbers();
  };
  CHECK(whole(npy("<f4", "(2,)", floats({3, -1}))).value() == std::vector<std::int64_t>{3, -1});
  CHECK(test::says(whole(npy("<f4", "(1,)", floats({1.5f}))).status(), "whole number"));
  CHECK_FALSE(whole(npy("<f4", "(1,)", floats({1e30f}))).ok());
  CHECK_FALSE(whole(npy("<i8", "(1,)", test::little_endian(std::uint64_t{1} << 53, 8))).ok());
  CHECK_FALSE(whole(npy("|S1", "(1,)", "7")).ok());
}

TEST_CASE("npy: what cannot be used is refused with a sentence", "[tools][npy]") {
  const std::string six = floats({1, 2, 3, 4, 5, 6});
  CHECK(test::says(refused(""), "no array"));
  CHECK(test::says(refused("a text file that is long enough"), "no array"));
  CHECK(test::says(refused(npy("|O", "(2,)", "pickle")), "could run code"));
  CHECK(test::says(refused(npy("<c8", "(2,)", six)), "<c8"));
  CHECK(test::says(refused(npy("<f3", "(2,)", six)), "cannot be used"));
  CHECK(test::says(refused(npy("<f4", "(2, 4)", six)), "cut off"));
  CHECK(test::says(refused(npy("<f4", "(5,)", six)), "24 are there"));
  CHECK(test::says(refused(npy("<f4", "(4294967296, 4294967296)", six)), "impossible"));
  CHECK_FALSE(refused(npy("<f4", "(-1,)", six)).ok());
  CHECK_FALSE(refused(npy("<f4", "(2, 3", six)).ok());
  std::string file = npy("<f4", "(6,)", six);
  file[6] = 9;
  CHECK(test::says(refused(file), "version 9"));
  file = npy("<f4", "(6,)", six);
  file[8] = file[9] = '\xff';
  CHECK(test::says(refused(file), "header"));

  const float infinite = std::numeric_limits<float>::infinity();
  for (const float bad : {std::nanf(""), infinite, -infinite}) {
    const std::string pair = npy("<f4", "(2,)", floats({1, bad}));
    const auto array = NpyView::parse(bytes_of(pair), "a.npy");
    CHECK(test::says(array.value().floats().status(), "value 1 of 2"));
  }
  const double large = 1e300;
  const std::string text(reinterpret_cast<const char*>(&large), sizeof(large));
  CHECK(
      test::says(NpyView::parse(bytes_of(npy("<f8", "(1,)", text)), "a").value().floats().status(),
                 "beyond float"));
}

TEST_CASE("npy: headers are read strictly", "[tools][npy]") {
  const char* good = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }   \n";
  CHECK(parse_npy_header(good).value().shape == std::vector<std::int64_t>{3, 4});
  CHECK(parse_npy_header("{\"shape\":(3,),\"fortran_order\":True,\"descr\":\"|u1\"}")
            .value()
            .fortran_order);
  for (const char* bad :
       {"", "{", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': 0, 'shape': ()}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), } x",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_npy_header(bad).ok());
  }
}

}  // namespace engram
