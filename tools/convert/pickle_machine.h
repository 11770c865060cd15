// The stack machine that a pickle is a program for; pickle.h says what it may do.
//
// Instructions push values, collect them into tuples, lists and dicts, and keep them in a memo. A value that Python would
// get by a call is made here as a record: PickleKind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "tools/convert/pickle.h"

namespace engram {

enum PickleOpcode : unsigned char {
  kMark = '(',
  kStop = '.',
  kBinFloat = 'G',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kNone = 'N',
  kBinPersId = 'Q',
  kReduce = 'R',
  kBinUnicode = 'X',
  kAppend = 'a',
  kBuild = 'b',
  kGlobal = 'c',
  kDict = 'd',
  kAppends = 'e',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kSetItem = 's',
  kTuple = 't',
  kSetItems = 'u',
  kEmptyList = ']',
  kEmptyTuple = ')',
  kEmptyDict = '}',
  kProto = 0x80,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8a,
  kShortBinUnicode = 0x8c,
  kStackGlobal = 0x93,
  kMemoize = 0x94,
  kFrame = 0x95,
};

class PickleMachine {
 public:
  PickleMachine(std::span<const std::byte> bytes, const std::string& name)
      : bytes_(bytes), name_(name) {}
  Result<Pickle> run();

 private:
  // One instruction with the number that follows it; each of the next four knows its own kind of them.
  Status step(unsigned char opcode);
  Status push(unsigned char opcode, std::uint64_t argument);  // numbers, texts, empty containers
  Status collect(unsigned char opcode);  // what lies on the stack, into containers
  Status collect_to_mark(unsigned char opcode);
  Status remember(unsigned char opcode, std::uint64_t argument);  // the memo
  Status name(unsigned char opcode);                              // what Python would import

  Status push_long(std::size_t bytes);
  Status push_text(std::size_t bytes);
  Status push_tuple(std::size_t count);
  Status push_global(const std::string& global);
  Status append(std::size_t first, std::size_t list);
  Status set_items(std::size_t first);
  Status reduce();
  Status persistent_id();
  Status drop_state();

  Status broken(const std::string& what) const;
  Status cut_off() const;

  bool has(std::size_t count) const { return bytes_.size() - at_ >= count; }
  // Little-endian; the caller has asked has().
  std::uint64_t take(int count) {
    std::uint64_t value = 0;
    for (int i = 0; i < count; ++i) {
      value |= std::to_integer<std::uint64_t>(bytes_[at_++]) << (8 * i);
    }
    return value;
  }
  std::string take_text(std::size_t count) {
    std::string text(reinterpret_cast<const char*>(bytes_.data()) + at_, count);
    at_ += count;
    return text;
  }

  PickleValue& make(PickleKind kind) {
    stack_.push_back(static_cast<PickleRef>(pickle_.values.size()));
    pickle_.values.emplace_back().kind = kind;
    return pickle_.values.back();
  }
  Status push_whole(std::int64_t value) { return make(PickleKind::whole).whole = value, Status(); }
  PickleRef pop() {
    const PickleRef ref = stack_.back();
    stack_.pop_back();
    return ref;
  }
  const PickleValue& at(PickleRef ref) const { return pickle_.values[ref]; }
  bool is_mark(std::size_t position) const { return at(stack_[position]).kind == PickleKind::mark; }

  std::span<const std::byte> bytes_;
  const std::string& name_;
  std::size_t at_ = 0;
  Pickle pickle_;
  std::vector<PickleRef> stack_;
  // Where the marks lie on the stack. A search for them would make a hostile file's time quadratic.
  // Only TUPLE, APPENDS and SETITEMS take one away; whatever else meets one is refused.
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint32_t, PickleRef> memo_;
};

}  // namespace engram
