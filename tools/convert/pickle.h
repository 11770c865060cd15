// A restricted reader of Python pickles: it builds data and nothing else.
//
// Python's own reader may call any function that the file names. This one knows four callables
// (collections.OrderedDict, torch._utils._rebuild_tensor_v2, torch._utils._rebuild_parameter and
// torch's storage types), and turns them into plain records without running anything. Any other
// global or opcode is refused with a sentence.
//
// Memory and time are linear in the pickle's size: an opcode makes at most one value, values are
// shared by index, no opcode looks through the stack, and there is no recursion over values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "platform/status.h"

namespace engram {

enum class PickleKind : std::uint8_t {
  none,
  boolean,
  whole,
  real,
  text,
  tuple,
  list,
  dict,
  callable,  // a global of the whitelist; text holds "module name"
  storage,   // persistent id: text the key, type_name, whole the number of elements
  tensor,    // items: storage, offset, sizes, strides
  mark,
};

using PickleRef = std::uint32_t;  // index into Pickle::values

struct PickleValue {
  PickleKind kind = PickleKind::none;
  std::int64_t whole = 0;        // whole, boolean
  std::string text;              // text, callable, storage
  std::string type_name;         // storage: "FloatStorage"
  std::vector<PickleRef> items;  // tuple, list; dict: key, value, key, value...; tensor
};

struct Pickle {
  std::deque<PickleValue> values;
  PickleRef top = 0;
  std::size_t size = 0;  // bytes read, up to and with STOP

  const PickleValue& at(PickleRef ref) const { return values[ref]; }
  const PickleValue& root() const { return values[top]; }
  // The value of a text key of a dict; null: absent.
  const PickleValue* find(const PickleValue& dict, const std::string& key) const;
};

inline constexpr std::size_t kMaxPickle = 16'000'000;  // bytes

// A stranger's text for a message: at most 80 characters, nothing that could steer a terminal.
std::string safe_excerpt(const std::string& text, std::size_t most = 80);

// Reads one pickle from the front of `bytes`. Messages start with `name`.
Result<Pickle> read_pickle(std::span<const std::byte> bytes, const std::string& name);

}  // namespace engram
