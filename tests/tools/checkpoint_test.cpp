#include "tools/convert/checkpoint.h"

#include <limits>
#include <string>

#include "tests/support/archive_files.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"

using namespace engram;
using namespace engram::test;

namespace {

const std::vector<float> kSix{0, 1, 2, 3, 4, 5};

// "w" is a 2 x 3 matrix stored by columns; "b" is its last two elements.
std::string state() {
  return dict(
      {{"w", tensor({.key = "0", .elements = 6, .sizes = {2, 3}, .strides = {1, 2}})},
       {"b", tensor({.key = "0", .elements = 6, .offset = 4, .sizes = {2}, .strides = {1}})},
       {"epoch", whole(7)}});
}
std::string legacy() {
  return legacy_checkpoint(state(), {{"0", 6, floats(kSix)}});
}
std::string zipped(bool deflated) {
  return zip_archive({{"model/data.pkl", pickle(state()), deflated},
                      {"model/byteorder", "little", false},
                      {"model/data/0", floats(kSix), deflated}});
}

Result<Checkpoint> parse(const std::string& file) {
  return parse_checkpoint(bytes_of(file), "net.pth");
}
// A checkpoint whose state is the given piece of pickle.
Status refusal(const std::string& piece) {
  return parse(legacy_checkpoint(piece, {})).status();
}

void check_tensors(Result<Checkpoint> checkpoint) {
  REQUIRE(checkpoint.ok());
  REQUIRE(checkpoint->size() == 2);
  CHECK(checkpoint->at("w").shape == std::vector<std::int64_t>{2, 3});
  CHECK(checkpoint->at("w").values == std::vector<float>{0, 2, 4, 1, 3, 5});
  CHECK(checkpoint->at("b").values == std::vector<float>{4, 5});
}

}  // namespace

TEST_CASE("tensors come out row-major from both forms", "[tools][checkpoint]") {
  check_tensors(parse(legacy()));
  check_tensors(parse(zipped(false)));
  check_tensors(parse(zipped(true)));
  const std::string inner = dict({{"state_dict", state()}, {"optimizer", dict({})}});
  check_tensors(parse(legacy_checkpoint(inner, {{"0", 6, floats(kSix)}})));
}

TEST_CASE("every element type is read", "[tools][checkpoint]") {
  struct Kind {
    const char* type;
    std::string bytes;  // of 1 and -2
  };
  const double doubles[] = {1, -2};
  const Kind kinds[] = {
      {"HalfStorage", std::string("\x00\x3c\x00\xc0", 4)},
      {"BFloat16Storage", std::string("\x80\x3f\x00\xc0", 4)},
      {"DoubleStorage", std::string(reinterpret_cast<const char*>(doubles), 16)},
      {"LongStorage", little_endian(1, 8) + little_endian(std::uint64_t(-2), 8)},
      {"IntStorage", little_endian(1, 4) + little_endian(std::uint64_t(-2), 4)},
      {"ShortStorage", little_endian(1, 2) + little_endian(std::uint64_t(-2), 2)},
      {"CharStorage", std::string("\x01\xfe", 2)},
  };
  for (const Kind& kind : kinds) {
    INFO(kind.type);
    const std::string piece = dict(
        {{"t",
          tensor({.key = "k", .elements = 2, .sizes = {2}, .strides = {1}, .type = kind.type})}});
    auto checkpoint = parse(legacy_checkpoint(piece, {{"k", 2, kind.bytes}}));
    REQUIRE(checkpoint.ok());
    CHECK(checkpoint->at("t").values == std::vector<float>{1, -2});
  }
}

TEST_CASE("a hostile pickle runs nothing and is refused", "[tools][checkpoint]") {
  const std::string command = tuple({text("touch /tmp/owned")});
  CHECK(says(refusal(global("os", "system") + command + "R"), "\"os system\", which is not data"));
  CHECK(says(refusal(global("builtins", "eval") + command + "R"), "builtins eval"));
  CHECK(says(refusal(text("os") + text("system") + "\x93" + command + "R"), "os system"));
  CHECK(says(refusal(global("torch", "load") + command + "R"), "torch load"));
  // Allowed names, used for something else.
  CHECK(says(refusal(global("collections", "OrderedDict") + command + "R"), "makes no tensor"));
  CHECK(says(refusal(global("torch", "FloatStorage") + ")R"), "makes no tensor"));
  CHECK(says(refusal("}" + command + "R"), "not a function"));
  CHECK(says(refusal(text("x") + dict({}) + "b"), "state of an object"));
  CHECK(says(refusal(tuple({text("module"), text("x")}) + "Q"), "not a plain storage"));
  // Instructions that tensors do not need: INST, OBJ, NEWOBJ, EXT1, BUILD-ers and old ones.
  for (const char opcode : std::string("io\x81\x82\x92P0S\x96")) {
    CHECK(says(refusal(std::string(1, opcode) + "os\nsystem\n"), "instruction"));
  }
  // What steers a terminal does not reach the message.
  CHECK_FALSE(says(refusal(global("\x1b[31mos", "x")), "\x1b"));
}

TEST_CASE("broken stacks and memos are refused", "[tools][checkpoint]") {
  for (const std::string& piece :
       {std::string("t"), std::string("u"), std::string("s"), std::string("e"), std::string("a"),
        std::string("R"), std::string("Q"), std::string("b"), std::string("h\x05"),
        std::string("q\x01"), std::string("\x86"), std::string("(\x85"), std::string("]("),
        std::string("}(Ku"), std::string("(u"), std::string("NNs"), std::string("NN"),
        std::string("]q\1h\1a")}) {
    CHECK_FALSE(parse(legacy_checkpoint(piece, {})).ok());
  }
  // A list inside itself, and 2^40 items by doubling: both are small in memory.
  std::string bomb = "]q" + std::string(1, '\0');
  for (char level = 1; level < 40; ++level) {
    bomb += std::string("](h") + static_cast<char>(level - 1) + "h" + static_cast<char>(level - 1) +
            "eq" + level;
  }
  CHECK(says(refusal(tuple({bomb})), "no dict of tensors"));
  CHECK(says(refusal(std::string(1'200'000, 'N')), "too many values"));
}

// 12 MB each, the largest that is read. Steps are what is tested: with a search through the stack at
// every instruction these would be 10^13, which no machine does while a test waits.
TEST_CASE("a hostile pickle takes time in proportion to its size", "[tools][checkpoint]") {
  constexpr std::size_t kMany = 4'000'000;
  const auto times = [](std::size_t count, const std::string& piece) {
    std::string all;
    for (std::size_t i = 0; i < count; ++i) all += piece;
    return all;
  };
  const std::string list = std::string("]q\0", 3), again("h\0", 2);
  CHECK(says(refusal(list + times(kMany, again) + times(kMany, "a")), "no dict of tensors"));
  CHECK(says(refusal(list + times(kMany, again) + times(kMany, "\x85")), "too many values"));
  // Nor memory: a long key of a storage is not copied by three bytes that name it again.
  const std::string id = tuple({text("storage"), global("torch", "FloatStorage"),
                                text(std::string(8'000'000, 'k')), text("cpu"), whole(1)});
  CHECK(says(refusal(id + "q\1" + times(1'000'000, "h\1Q")), "not a plain storage"));
}

TEST_CASE("marks are no values", "[tools][checkpoint]") {
  for (const std::string piece : {"](a", "}N(s", "}(Ns", "(q\1h\1", "](N(e", "(N(t", "](Nee"}) {
    INFO(piece);
    CHECK(says(refusal(piece), "net.pth"));
  }
  CHECK(says(refusal("]((N(Nttt"), "not end with one value"));
  CHECK(says(refusal("](N(NtNe"), "no dict of tensors"));
}

TEST_CASE("tensors outside their storage are refused", "[tools][checkpoint]") {
  const auto one = [](TensorPiece piece) {
    piece.key = "0";
    piece.elements = 6;
    return parse(legacy_checkpoint(dict({{"t", tensor(piece)}}), {{"0", 6, floats(kSix)}}));
  };
  CHECK(one({.offset = 4, .sizes = {2}, .strides = {1}}).ok());
  CHECK_FALSE(one({.offset = 5, .sizes = {2}, .strides = {1}}).ok());
  CHECK_FALSE(one({.offset = -1, .sizes = {2}, .strides = {1}}).ok());
  CHECK_FALSE(one({.sizes = {2, 3}, .strides = {6, 1}}).ok());
  CHECK_FALSE(one({.sizes = {2}, .strides = {-1}}).ok());
  CHECK_FALSE(one({.sizes = {-2}, .strides = {1}}).ok());
  CHECK_FALSE(one({.sizes = {7}, .strides = {0}}).ok());  // more elements than there are
  CHECK_FALSE(one({.sizes = {2, 2}, .strides = {1}}).ok());
  const auto most = std::numeric_limits<std::int32_t>::max();
  CHECK_FALSE(one({.sizes = {most, most, most}, .strides = {1, 1, 1}}).ok());
  CHECK_FALSE(one({.sizes = {2, 2}, .strides = {most, most}}).ok());
  auto scalar = one({.offset = 3, .sizes = {}, .strides = {}});
  REQUIRE(scalar.ok());
  CHECK(scalar->at("t").values == std::vector<float>{3});
  CHECK(one({.sizes = {0, 3}, .strides = {3, 1}})->at("t").values.empty());
}

TEST_CASE("a checkpoint cut off anywhere is refused", "[tools][checkpoint]") {
  for (const std::string& file : {legacy(), zipped(false)}) {
    for (std::size_t size = 0; size < file.size(); ++size) {
      CHECK_FALSE(parse(file.substr(0, size)).ok());
    }
  }
}

TEST_CASE("storages that are missing or too short are refused", "[tools][checkpoint]") {
  CHECK_FALSE(parse(legacy_checkpoint(state(), {})).ok());
  CHECK(says(parse(legacy_checkpoint(state(), {{"0", 5, floats(kSix)}})).status(), "two sizes"));
  CHECK(says(parse(legacy_checkpoint(state(), {{"0", 6, "short"}})).status(), "cut off"));
  CHECK(says(parse(legacy_checkpoint(state(), {{"9", 6, floats(kSix)}})).status(), "not used"));
  CHECK(says(parse(zip_archive({{"m/data.pkl", pickle(state()), false}})).status(), "missing"));
  CHECK(says(parse(zip_archive({{"a.txt", "x", false}})).status(), "not a PyTorch checkpoint"));
  CHECK(says(
      parse(zip_archive({{"m/data.pkl", pickle(state()), false}, {"m/byteorder", "big", false}}))
          .status(),
      "little-endian"));
  CHECK(says(parse(legacy_checkpoint(dict({{"epoch", whole(1)}}), {})).status(), "no tensors"));
}
