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
      marks_.push_back(stack_.size());
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
  const std::size_t size = stack_.size();
  switch (opcode) {
    case kTuple1:
      return push_tuple(1);
    case kTuple2:
      return push_tuple(2);
    case kTuple3:
      return push_tuple(3);
    case kAppend:
      if (size < 2 || is_mark(size - 1)) return broken("a list item is missing");
      return append(size - 1, size - 2);
    case kSetItem:
      if (size < 3) return broken("its stack is empty");
      if (is_mark(size - 1) || is_mark(size - 2)) return broken("a dict item is missing");
      return set_items(size - 2);
    default:
      return collect_to_mark(opcode);
  }
}

Status PickleMachine::collect_to_mark(unsigned char opcode) {
  if (marks_.empty()) return broken("a mark is missing");
  const std::size_t mark = marks_.back();
  marks_.pop_back();
  stack_.erase(stack_.begin() + static_cast<std::ptrdiff_t>(mark));
  if (opcode == kTuple) return push_tuple(stack_.size() - mark);
  return opcode == kAppends ? append(mark, mark - 1) : set_items(mark);
}

Status PickleMachine::remember(unsigned char opcode, std::uint64_t argument) {
  if (opcode == kBinGet || opcode == kLongBinGet) {
    const auto found = memo_.find(static_cast<std::uint32_t>(argument));
    if (found == memo_.end()) return broken("it refers to something that was never stored");
    stack_.push_back(found->second);
    return {};
  }
  if (stack_.empty() || is_mark(stack_.size() - 1)) return broken("its stack is empty");
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
