// sign_project: every path against the definition, which is whole numbers: compared with ==.
#include "kernels/sign_project.h"

#include <random>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/guarded_matrix.h"
#include "tests/support/kernel_backends.h"

namespace engram {
namespace {

using test::Backend;
using test::GuardedMatrix;
using test::reads;
using test::writes;

struct Shape {
  int frames, inputs, units;
};

// One problem with its own memory.
struct Case {
  explicit Case(Shape s)
      : shape(s), q(s.frames, s.inputs), words(std::size_t((s.inputs + 31) / 32) * s.units) {}

  SignMatrixView weights() const { return {words.data(), shape.inputs, shape.units}; }
  GuardedMatrix<std::int32_t> run(const Backend& backend) const {
    GuardedMatrix<std::int32_t> p(shape.frames, shape.units);
    const Status status =
        test::run(backend, &Kernels::sign_project, reads(q), weights(), writes(p));
    INFO(status.what());
    REQUIRE(status.ok());
    REQUIRE(p.untouched());
    return p;
  }

  Shape shape;
  GuardedMatrix<std::int8_t> q;
  std::vector<std::uint32_t> words;
};

Case random_case(Shape shape, unsigned seed) {
  Case c(shape);
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> feature(-127, 127);
  c.q.fill([&] { return feature(random); });
  for (std::uint32_t& word : c.words) word = random();
  return c;
}

// The definition in the header, read literally.
GuardedMatrix<std::int32_t> defined(const Case& c) {
  GuardedMatrix<std::int32_t> p(c.shape.frames, c.shape.units);
  for (int b = 0; b < c.shape.frames; ++b) {
    for (int m = 0; m < c.shape.units; ++m) {
      std::int32_t sum = 0;
      for (int l = 0; l < c.shape.inputs; ++l) {
        const bool plus = c.weights().word(l / 32, m) >> (l % 32) & 1u;
        sum += plus ? c.q(b, l) : -c.q(b, l);
      }
      p(b, m) = sum;
    }
  }
  return p;
}

// Below, at and above every edge. On the CPU a word is 32 inputs, a table group 4 inputs, a tile 4
// frames, a step 64 units, a block 512 units, a chunk of tables 16 to 64 words. On a GPU a stage is
// 64 words for one frame and 4 for more, a tile 8, 16, 32, 48 or 64 frames, a block 128 units; more
// than 64 frames of more than 512 inputs are whole tiles and one that is smaller.
const Shape kShapes[] = {
    {1, 1, 1},      {1, 3, 15},      {1, 4, 16},     {1, 5, 17},      {2, 31, 31},   {3, 32, 32},
    {4, 33, 33},    {5, 64, 63},     {6, 65, 64},    {7, 127, 65},    {8, 128, 511}, {9, 129, 512},
    {4, 511, 513},  {5, 512, 40},    {4, 513, 1023}, {1, 2047, 1024}, {1, 2048, 70}, {1, 2049, 530},
    {2, 1280, 301}, {17, 384, 1025}, {4, 2081, 100}, {1, 1280, 2500}, {2, 96, 127},  {3, 97, 128},
    {5, 95, 129},   {15, 128, 36},   {16, 160, 32},  {31, 96, 132},   {32, 33, 128}, {33, 129, 68},
    {63, 64, 33},   {64, 128, 128},  {65, 127, 4},   {129, 40, 3},    {1, 64, 1000}, {39, 160, 132},
    {40, 130, 31},  {47, 33, 36},    {48, 256, 129}, {49, 32, 8},     {65, 513, 4},  {65, 512, 5},
    {66, 544, 33},  {72, 513, 130},  {73, 640, 36},  {80, 520, 9},    {81, 513, 5},  {96, 544, 128},
    {97, 513, 36},  {112, 514, 65},  {113, 640, 7},  {127, 513, 16},  {128, 520, 9}, {129, 513, 7},
    {130, 577, 9},  {161, 513, 12},  {193, 520, 33}, {97, 160, 36}};

}  // namespace

TEST_CASE("sign_project: equals the definition", "[kernels][sign_project]") {
  for (const Shape shape : kShapes) {
    const Case c = random_case(shape, 1);
    const GuardedMatrix<std::int32_t> expected = defined(c);
    for (const Backend& backend : test::backends(&Kernels::sign_project)) {
      CAPTURE(shape.frames, shape.inputs, shape.units, backend.name);
      REQUIRE(c.run(backend) == expected);
    }
  }
}

TEST_CASE("sign_project: work shared between threads adds up", "[kernels][sign_project]") {
  const Shape shape = GENERATE(Shape{1, 1280, 9000}, Shape{40, 384, 3000});
  const Case c = random_case(shape, 2);
  const GuardedMatrix<std::int32_t> expected = defined(c);
  for (const Backend& backend : test::backends(&Kernels::sign_project)) {
    CAPTURE(backend.name);
    REQUIRE(c.run(backend) == expected);
  }
}

TEST_CASE("sign_project: the largest sums do not overflow", "[kernels][sign_project]") {
  for (const int value : {-127, 127}) {
    for (const std::uint32_t word : {0u, ~0u}) {
      Case c({5, 8300, 40});  // far more inputs than any backbone has
      c.q.fill([&] { return value; });
      for (std::uint32_t& w : c.words) w = word;
      const std::int32_t expected = 8300 * (word ? value : -value);
      for (const Backend& backend : test::backends(&Kernels::sign_project)) {
        CAPTURE(value, word, backend.name);
        const GuardedMatrix<std::int32_t> p = c.run(backend);
        for (int b = 0; b < 5; ++b)
          for (int m = 0; m < 40; ++m) REQUIRE(p(b, m) == expected);
      }
    }
  }
}

TEST_CASE("sign_project: spare bits of the last word do not matter", "[kernels][sign_project]") {
  Case zeros = random_case({2, 40, 20}, 3);  // 40 inputs: 24 spare bits in the second word
  Case ones = zeros;
  for (int m = 0; m < 20; ++m) {
    zeros.words[20 + m] &= 0x000000ffu;
    ones.words[20 + m] |= 0xffffff00u;
  }
  for (const Backend& backend : test::backends(&Kernels::sign_project)) {
    CAPTURE(backend.name);
    REQUIRE(zeros.run(backend) == ones.run(backend));
  }
}

TEST_CASE("sign_project: nothing in, nothing out", "[kernels][sign_project]") {
  for (const Backend& backend : test::backends(&Kernels::sign_project)) {
    Case({0, 64, 40}).run(backend);
    Case({3, 64, 0}).run(backend);
    const GuardedMatrix<std::int32_t> p = Case({2, 0, 40}).run(backend);
    for (int m = 0; m < 40; ++m) REQUIRE(p(1, m) == 0);
  }
}

}  // namespace engram
