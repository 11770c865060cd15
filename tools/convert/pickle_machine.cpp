#include "tools/convert/pickle_machine.h"

#include <array>

#include <fmt/format.h>

namespace engram {
namespace {

constexpr std::size_t kMaxValues = 1'000'000;  // about 100 MB

// Bytes that follow each instruction at least.
constexpr auto kArgumentBytes = [] {
  std::array<std::uint8_t, 256> bytes{};
  bytes[kProto] = bytes[kBinInt1] = bytes[kBinGet] = bytes[kBinPut] = bytes[kLong1] = 1;
  bytes[kShortBinUnicode] = 1;
  bytes[kBinInt2] = 2;
  bytes[kBinInt] = bytes[kLongBinGet] = bytes[kLongBinPut] = bytes[kBinUnicode] = 4;
  bytes[kBinFloat] = bytes[kFrame] = 8;
  return bytes;
}();

}  // namespace

Status PickleMachine::broken(const std::string& what) const {
  return Status(Code::bad_data, fmt::format("{}: not a checkpoint that can be read safely: {} "
                                            "(at byte {} of a pickle)",
                                            name_, what, at_));
}

Status PickleMachine::cut_off() const {
  return broken(bytes_.size() == kMaxPickle ? "it is too large" : "it is cut off");
}

Status PickleMachine::step(unsigned char opcode) {
  if (!has(kArgumentBytes[opcode])) return cut_off();
  const std::uint64_t argument = take(kArgumentBytes[opcode]);
  switch (opcode) {
    case kProto:
      return argument <= 5 ? Status() : broken(fmt::format("its protocol is {}", argument));
    case kFrame:
      return {};  // a hint about sizes
    case kMark:
    case kNone:
    case kNewTrue:
    case kNewFalse:
    case kBinInt:
    case kBinInt1:
    case kBinInt2:
    case kBinFloat:
    case kLong1:
    case kBinUnicode:
    case kShortBinUnicode:
    case kEmptyDict:
    case kEmptyList:
    case kEmptyTuple:
      return push(opcode, argument);
    case kTuple1:
    case kTuple2:
    case kTuple3:
    case kTuple:
    case kAppend:
    case kAppends:
    case kSetItem:
    case kSetItems:
      return collect(opcode);
    case kBinPut:
    case kLongBinPut:
    case kMemoize:
    case kBinGet:
    case kLongBinGet:
      return remember(opcode, argument);
    case kGlobal:
    case kStackGlobal:
      return name(opcode);
    case kReduce:
      return reduce();
    case kBuild:
      return drop_state();
    case kBinPersId:
      return persistent_id();
    default:
      return broken(
          fmt::format("it has the instruction 0x{:02x}, which tensors do not need", opcode));
  }
}

Status PickleMachine::push(unsigned char opcode, std::uint64_t argument) {
  switch (opcode) {
    case kMark:
      return make(PickleKind::mark), Status();
    case kNone:
      return make(PickleKind::none), Status();
    case kNewTrue:
    case kNewFalse:
      return make(PickleKind::boolean).whole = opcode == kNewTrue, Status();
    case kBinInt:
      return push_whole(static_cast<std::int32_t>(argument));
    case kBinInt1:
    case kBinInt2:
      return push_whole(static_cast<std::int64_t>(argument));
    case kBinFloat:
      return make(PickleKind::real), Status();  // never needed: the value is dropped
    case kLong1:
      return push_long(argument);
    case kEmptyDict:
      return make(PickleKind::dict), Status();
    case kEmptyList:
      return make(PickleKind::list), Status();
    case kEmptyTuple:
      return push_tuple(0);
    default:  // kBinUnicode, kShortBinUnicode
      return push_text(argument);
  }
}

Status PickleMachine::push_text(std::size_t bytes) {
  if (!has(bytes)) return cut_off();
  make(PickleKind::text).text = take_text(bytes);
  return {};
}

// Little-endian, two's complement. Longer ones occur only as the magic number, which is compared as text.
Status PickleMachine::push_long(std::size_t bytes) {
  if (bytes > 8) return push_text(bytes);
  if (!has(bytes)) return cut_off();
  if (bytes == 0) return push_whole(0);
  const std::uint64_t value = take(static_cast<int>(bytes));
  const int unused = 64 - 8 * static_cast<int>(bytes);
  return push_whole(static_cast<std::int64_t>(value << unused) >> unused);
}

Status PickleMachine::collect(unsigned char opcode) {
  const std::size_t first = above_mark();
  switch (opcode) {
    case kTuple1:
      return push_tuple(1);
    case kTuple2:
      return push_tuple(2);
    case kTuple3:
      return push_tuple(3);
    case kTuple:
      if (first == 0) return broken("a mark is missing");
      ENGRAM_TRY(push_tuple(stack_.size() - first));
      stack_.erase(stack_.end() - 2);  // the mark
      return {};
    case kAppend:
      return append(stack_.size() - 1, stack_.size() - 2);
    case kAppends:
      return append(first, first - 2);
    case kSetItem:
      return stack_.size() < 3 ? broken("its stack is empty") : set_items(stack_.size() - 2);
    default:  // kSetItems
      if (first < 2) return broken("a mark is missing");
      stack_.erase(stack_.begin() + static_cast<std::ptrdiff_t>(first) - 1);
      return set_items(first - 1);
  }
}

Status PickleMachine::remember(unsigned char opcode, std::uint64_t argument) {
  if (opcode == kBinGet || opcode == kLongBinGet) {
    const auto found = memo_.find(static_cast<std::uint32_t>(argument));
    if (found == memo_.end()) return broken("it refers to something that was never stored");
    stack_.push_back(found->second);
    return {};
  }
  if (stack_.empty()) return broken("its stack is empty");
  const auto slot = opcode == kMemoize ? memo_.size() : argument;
  memo_[static_cast<std::uint32_t>(slot)] = stack_.back();
  return {};
}

Status PickleMachine::name(unsigned char opcode) {
  if (opcode == kStackGlobal) {
    if (stack_.size() < 2) return broken("its stack is empty");
    const std::string second = at(pop()).text;
    return push_global(at(pop()).text + " " + second);
  }
  std::string global;
  for (int lines = 0; lines < 2;) {
    if (!has(1) || global.size() > 256) return broken("a name does not end");
    const char c = static_cast<char>(take(1));
    if (c != '\n') {
      global += c;
    } else if (++lines == 1) {
      global += ' ';
    }
  }
  return push_global(global);
}

Result<Pickle> PickleMachine::run() {
  for (;;) {
    if (pickle_.values.size() > kMaxValues) return broken("it has too many values");
    if (!has(1)) return cut_off();
    const auto opcode = static_cast<unsigned char>(take(1));
    if (opcode == kStop) break;
    ENGRAM_TRY(step(opcode));
  }
  if (stack_.size() != 1) return broken("it does not end with one value");
  pickle_.top = stack_.back();
  pickle_.size = at_;
  return std::move(pickle_);
}

}  // namespace engram
