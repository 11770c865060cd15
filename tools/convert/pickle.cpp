#include "tools/convert/pickle.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

namespace engram {

namespace {

enum Opcode : unsigned char {
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

constexpr std::size_t kMaxValues = 1'000'000;  // about 100 MB

constexpr std::array<std::string_view, 3> kCallables{"collections OrderedDict",
                                                     "torch._utils _rebuild_tensor_v2",
                                                     "torch._utils _rebuild_parameter"};
constexpr std::array<std::string_view, 10> kStorages{
    "FloatStorage", "DoubleStorage", "HalfStorage", "BFloat16Storage", "LongStorage",
    "IntStorage",   "ShortStorage",  "CharStorage", "ByteStorage",     "BoolStorage"};

bool allowed(std::string_view global) {
  for (const auto callable : kCallables) {
    if (global == callable) return true;
  }
  for (const auto storage : kStorages) {
    if (global.substr(0, 6) == "torch " && global.substr(6) == storage) return true;
  }
  return false;
}

class Machine {
 public:
  Machine(std::span<const std::byte> bytes, const std::string& name) : bytes_(bytes), name_(name) {}
  Result<Pickle> run();

 private:
  Status step(unsigned char opcode);
  Status reduce();
  Status persistent_id();
  Status set_items(std::size_t first);
  Status push_global(const std::string& global);

  Status broken(const std::string& what) const {
    return Status(Code::bad_data, fmt::format("{}: not a checkpoint that can be read safely: {} "
                                              "(at byte {} of a pickle)",
                                              name_, what, at_));
  }
  Status cut_off() const {
    return broken(bytes_.size() == kMaxPickle ? "it is too large" : "it is cut off");
  }

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
  Status push_tuple(std::size_t count);
  PickleValue& top() { return pickle_.values[stack_.back()]; }
  PickleRef pop() {
    const PickleRef ref = stack_.back();
    stack_.pop_back();
    return ref;
  }
  const PickleValue& at(PickleRef ref) const { return pickle_.values[ref]; }
  // Position just after the last mark on the stack, 0 if there is none.
  std::size_t above_mark() const {
    std::size_t i = stack_.size();
    while (i > 0 && at(stack_[i - 1]).kind != PickleKind::mark) --i;
    return i;
  }

  std::span<const std::byte> bytes_;
  const std::string& name_;
  std::size_t at_ = 0;
  Pickle pickle_;
  std::vector<PickleRef> stack_;
  std::unordered_map<std::uint32_t, PickleRef> memo_;
};

Status Machine::push_tuple(std::size_t count) {
  if (stack_.size() < count) return broken("its stack is empty");
  std::vector<PickleRef> items(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
  for (const PickleRef item : items) {
    if (at(item).kind == PickleKind::mark) return broken("a tuple reaches over a mark");
  }
  stack_.resize(stack_.size() - count);
  make(PickleKind::tuple).items = std::move(items);
  return {};
}

Status Machine::push_global(const std::string& global) {
  if (!allowed(global)) {
    return broken(fmt::format("it asks for \"{}\", which is not data. Nothing was run",
                              safe_excerpt(global)));
  }
  make(PickleKind::callable).text = global;
  return {};
}

// stack: ... dict key value key value
Status Machine::set_items(std::size_t first) {
  if (first == 0 || (stack_.size() - first) % 2 != 0) return broken("a dict item is missing");
  PickleValue& dict = pickle_.values[stack_[first - 1]];
  if (dict.kind != PickleKind::dict) return broken("items are set on what is not a dict");
  dict.items.insert(dict.items.end(), stack_.begin() + static_cast<std::ptrdiff_t>(first),
                    stack_.end());
  stack_.resize(first);
  return {};
}

// stack: ... callable arguments -> what the callable would have made, as a record
Status Machine::reduce() {
  if (stack_.size() < 2) return broken("its stack is empty");
  const PickleValue& tuple = at(pop());  // references into a deque outlive what is added to it
  const PickleValue& callable = at(pop());
  const std::vector<PickleRef>& arguments = tuple.items;
  if (tuple.kind != PickleKind::tuple || callable.kind != PickleKind::callable) {
    return broken("it calls what is not a function");
  }
  if (callable.text == kCallables[0] && arguments.empty()) {
    make(PickleKind::dict);
    return {};
  }
  // (storage, offset, sizes, strides, requires_grad, hooks [, metadata])
  if (callable.text == kCallables[1] && (arguments.size() == 6 || arguments.size() == 7) &&
      at(arguments[0]).kind == PickleKind::storage && at(arguments[1]).kind == PickleKind::whole &&
      at(arguments[2]).kind == PickleKind::tuple && at(arguments[3]).kind == PickleKind::tuple) {
    make(PickleKind::tensor).items.assign(arguments.begin(), arguments.begin() + 4);
    return {};
  }
  // (tensor, requires_grad, hooks): the tensor itself
  if (callable.text == kCallables[2] && arguments.size() == 3 &&
      at(arguments[0]).kind == PickleKind::tensor) {
    stack_.push_back(arguments[0]);
    return {};
  }
  return broken(fmt::format("it calls \"{}\" in a way that makes no tensor", callable.text));
}

// stack: ... ("storage", type, key, device, elements [, view]) -> storage
Status Machine::persistent_id() {
  if (stack_.empty()) return broken("its stack is empty");
  const std::vector<PickleRef>& id = at(pop()).items;
  const bool right = (id.size() == 5 || (id.size() == 6 && at(id[5]).kind == PickleKind::none)) &&
                     at(id[0]).text == "storage" && at(id[1]).kind == PickleKind::callable &&
                     at(id[1]).text.substr(0, 6) == "torch " &&
                     at(id[2]).kind == PickleKind::text && at(id[4]).kind == PickleKind::whole;
  if (!right) return broken("it refers to something outside that is not a plain storage");
  PickleValue& storage = make(PickleKind::storage);
  storage.type_name = at(id[1]).text.substr(6);
  storage.text = at(id[2]).text;
  storage.whole = at(id[4]).whole;
  return {};
}

Status Machine::step(unsigned char opcode) {
  static constexpr auto kArgument = [] {  // bytes that follow each opcode at least
    std::array<std::uint8_t, 256> bytes{};
    bytes[kProto] = bytes[kBinInt1] = bytes[kBinGet] = bytes[kBinPut] = bytes[kLong1] = 1;
    bytes[kShortBinUnicode] = 1;
    bytes[kBinInt2] = 2;
    bytes[kBinInt] = bytes[kLongBinGet] = bytes[kLongBinPut] = bytes[kBinUnicode] = 4;
    bytes[kBinFloat] = bytes[kFrame] = 8;
    return bytes;
  }();
  if (!has(kArgument[opcode])) return cut_off();
  const std::uint64_t argument = take(kArgument[opcode]);

  switch (opcode) {
    case kProto:
      return argument <= 5 ? Status() : broken(fmt::format("its protocol is {}", argument));
    case kFrame:
      return {};  // a hint about sizes
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
    case kLong1: {
      if (!has(argument)) return cut_off();
      // Longer ones occur only as the magic number, which is compared as text.
      if (argument > 8) {
        make(PickleKind::text).text = take_text(argument);
        return {};
      }
      std::uint64_t value = take(static_cast<int>(argument));
      const int unused = 64 - 8 * static_cast<int>(argument);
      if (unused == 64) return push_whole(0);
      return push_whole(static_cast<std::int64_t>(value << unused) >> unused);
    }
    case kBinUnicode:
    case kShortBinUnicode: {
      if (!has(argument)) return cut_off();
      make(PickleKind::text).text = take_text(argument);
      return {};
    }
    case kGlobal: {
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
    case kStackGlobal: {
      if (stack_.size() < 2) return broken("its stack is empty");
      const std::string second = at(pop()).text;
      return push_global(at(pop()).text + " " + second);
    }
    case kEmptyDict:
      return make(PickleKind::dict), Status();
    case kEmptyList:
      return make(PickleKind::list), Status();
    case kEmptyTuple:
      return push_tuple(0);
    case kTuple1:
      return push_tuple(1);
    case kTuple2:
      return push_tuple(2);
    case kTuple3:
      return push_tuple(3);
    case kTuple: {
      const std::size_t first = above_mark();
      if (first == 0) return broken("a mark is missing");
      ENGRAM_TRY(push_tuple(stack_.size() - first));
      stack_.erase(stack_.end() - 2);  // the mark
      return {};
    }
    case kAppend:
    case kAppends: {
      std::size_t first = opcode == kAppend ? stack_.size() - 1 : above_mark();
      const std::size_t list = opcode == kAppend ? first - 1 : first - 2;
      if (first == 0 || list >= stack_.size() || at(stack_[list]).kind != PickleKind::list) {
        return broken("an item is added to what is not a list");
      }
      auto& items = pickle_.values[stack_[list]].items;
      items.insert(items.end(), stack_.begin() + static_cast<std::ptrdiff_t>(first), stack_.end());
      stack_.resize(list + 1);
      return {};
    }
    case kSetItem:
      return stack_.size() < 3 ? broken("its stack is empty") : set_items(stack_.size() - 2);
    case kSetItems: {
      const std::size_t first = above_mark();
      if (first < 2) return broken("a mark is missing");
      stack_.erase(stack_.begin() + static_cast<std::ptrdiff_t>(first) - 1);
      return set_items(first - 1);
    }
    case kReduce:
      return reduce();
    case kBuild: {  // state of an OrderedDict: its _metadata, which we do not need
      if (stack_.size() < 2 || at(stack_.back()).kind != PickleKind::dict ||
          at(stack_[stack_.size() - 2]).kind != PickleKind::dict) {
        return broken("it sets the state of an object");
      }
      pop();
      return {};
    }
    case kBinPersId:
      return persistent_id();
    case kBinPut:
    case kLongBinPut:
    case kMemoize: {
      if (stack_.empty()) return broken("its stack is empty");
      const auto slot = opcode == kMemoize ? memo_.size() : argument;
      memo_[static_cast<std::uint32_t>(slot)] = stack_.back();
      return {};
    }
    case kBinGet:
    case kLongBinGet: {
      const auto found = memo_.find(static_cast<std::uint32_t>(argument));
      if (found == memo_.end()) return broken("it refers to something that was never stored");
      stack_.push_back(found->second);
      return {};
    }
    default:
      return broken(
          fmt::format("it has the instruction 0x{:02x}, which tensors do not need", opcode));
  }
}

Result<Pickle> Machine::run() {
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

}  // namespace

std::string safe_excerpt(const std::string& text) {
  std::string result = text.substr(0, 80);
  for (char& c : result) {
    if (c < ' ' || c > '~') c = '?';
  }
  return result;
}

const PickleValue* Pickle::find(const PickleValue& dict, const std::string& key) const {
  for (std::size_t i = 0; i + 1 < dict.items.size(); i += 2) {
    const PickleValue& candidate = at(dict.items[i]);
    if (candidate.kind == PickleKind::text && candidate.text == key) return &at(dict.items[i + 1]);
  }
  return nullptr;
}

Result<Pickle> read_pickle(std::span<const std::byte> bytes, const std::string& name) {
  return Machine(bytes.first(std::min(bytes.size(), kMaxPickle)), name).run();
}

}  // namespace engram
