#include "platform/arena.h"

#include <cstdint>
#include <cstring>

#include "platform/growing_buffer.h"
#include "tests/support/catch.h"

namespace engram {

TEST_CASE("arena: pieces are aligned, apart and zero", "[platform][arena]") {
  Arena arena = std::move(Arena::create(Arena::bytes_for(3, 4) + Arena::bytes_for(100, 8))).value();
  CHECK(arena.size() == 64 + 832);
  auto* first = arena.take<std::uint32_t>(3);
  auto* second = arena.take<double>(100);
  CHECK(reinterpret_cast<std::uintptr_t>(first) % Arena::kAlignment == 0);
  CHECK(reinterpret_cast<std::uintptr_t>(second) % Arena::kAlignment == 0);
  CHECK(reinterpret_cast<std::byte*>(second) - reinterpret_cast<std::byte*>(first) == 64);
  CHECK(arena.used() == arena.size());
  for (int i = 0; i < 100; ++i) CHECK(second[i] == 0.0);
  arena.seal();
  CHECK(arena.sealed());
}

TEST_CASE("arena: moves keep the memory where it is", "[platform][arena]") {
  Arena arena = std::move(Arena::create(64)).value();
  int* value = arena.take<int>(1);
  *value = 7;
  Arena moved = std::move(arena);
  Arena assigned = Arena::empty();
  assigned = std::move(moved);
  CHECK(*value == 7);
  CHECK(assigned.used() == 64);
}

TEST_CASE("arena: more than the machine has is refused with a sentence", "[platform][arena]") {
  const Result<Arena> arena = Arena::create(std::size_t{1} << 62);
  REQUIRE_FALSE(arena.ok());
  CHECK(arena.status().code() == Code::out_of_memory);
  CHECK(std::strstr(arena.status().what(), "MiB") != nullptr);
}

TEST_CASE("arena: this machine has some memory", "[platform][arena]") {
  CHECK(machine_memory() > std::int64_t{64} << 20);
}

TEST_CASE("growing buffer: keeps its content while it grows by doubling", "[platform][arena]") {
  GrowingBuffer buffer;
  for (std::uint32_t i = 0; i < 10000; ++i) REQUIRE(buffer.append(&i, sizeof i).ok());
  REQUIRE(buffer.size() == 40000);
  for (std::uint32_t i = 0; i < 10000; ++i) REQUIRE(buffer.as<std::uint32_t>()[i] == i);
  CHECK(buffer.capacity() < 2 * buffer.size());

  const std::size_t room = buffer.capacity();
  buffer.resize(0);
  CHECK(buffer.capacity() == room);
  CHECK_FALSE(buffer.reserve(std::size_t{1} << 62).ok());
  CHECK(buffer.capacity() == room);
}

}  // namespace engram
