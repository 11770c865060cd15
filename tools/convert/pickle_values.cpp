// What a pickle's instructions make: containers of what lies on the stack, records in the place of calls.
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "tools/convert/pickle_machine.h"

namespace engram {
namespace {

constexpr std::array<std::string_view, 3> kCallables{"collections OrderedDict",
                                                     "torch._utils _rebuild_tensor_v2",
                                                     "torch._utils _rebuild_parameter"};
constexpr std::array<std::string_view, 10> kStorages{
    "FloatStorage", "DoubleStorage", "HalfStorage", "BFloat16Storage", "LongStorage",
    "IntStorage",   "ShortStorage",  "CharStorage", "ByteStorage",     "BoolStorage"};

// A storage copies its key, so that three bytes of a file that names a long one again would take as
// much memory as the key. PyTorch's are small numbers.
constexpr std::size_t kLongestKey = 256;

bool allowed(std::string_view global) {
  for (const auto callable : kCallables) {
    if (global == callable) return true;
  }
  for (const auto storage : kStorages) {
    if (global.substr(0, 6) == "torch " && global.substr(6) == storage) return true;
  }
  return false;
}

}  // namespace

Status PickleMachine::push_tuple(std::size_t count) {
  if (stack_.size() < count) return broken("its stack is empty");
  std::vector<PickleRef> items(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
  for (const PickleRef item : items) {
    if (at(item).kind == PickleKind::mark) return broken("a tuple reaches over a mark");
  }
  stack_.resize(stack_.size() - count);
  make(PickleKind::tuple).items = std::move(items);
  return {};
}

Status PickleMachine::push_global(const std::string& global) {
  if (!allowed(global)) {
    return broken(fmt::format("it asks for \"{}\", which is not data. Nothing was run",
                              safe_excerpt(global)));
  }
  make(PickleKind::callable).text = global;
  return {};
}

// stack: ... dict key value key value
Status PickleMachine::set_items(std::size_t first) {
  if (first == 0 || (stack_.size() - first) % 2 != 0) return broken("a dict item is missing");
  PickleValue& dict = pickle_.values[stack_[first - 1]];
  if (dict.kind != PickleKind::dict) return broken("items are set on what is not a dict");
  dict.items.insert(dict.items.end(), stack_.begin() + static_cast<std::ptrdiff_t>(first),
                    stack_.end());
  stack_.resize(first);
  return {};
}

// stack: ... list ... items
Status PickleMachine::append(std::size_t first, std::size_t list) {
  if (first == 0 || list >= stack_.size() || at(stack_[list]).kind != PickleKind::list) {
    return broken("an item is added to what is not a list");
  }
  auto& items = pickle_.values[stack_[list]].items;
  items.insert(items.end(), stack_.begin() + static_cast<std::ptrdiff_t>(first), stack_.end());
  stack_.resize(list + 1);
  return {};
}

// stack: ... callable arguments -> what the callable would have made, as a record
Status PickleMachine::reduce() {
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
Status PickleMachine::persistent_id() {
  if (stack_.empty()) return broken("its stack is empty");
  const std::vector<PickleRef>& id = at(pop()).items;
  const bool right = (id.size() == 5 || (id.size() == 6 && at(id[5]).kind == PickleKind::none)) &&
                     at(id[0]).text == "storage" && at(id[1]).kind == PickleKind::callable &&
                     at(id[1]).text.substr(0, 6) == "torch " &&
                     at(id[2]).kind == PickleKind::text && at(id[2]).text.size() <= kLongestKey &&
                     at(id[4]).kind == PickleKind::whole;
  if (!right) return broken("it refers to something outside that is not a plain storage");
  PickleValue& storage = make(PickleKind::storage);
  storage.type_name = at(id[1]).text.substr(6);
  storage.text = at(id[2]).text;
  storage.whole = at(id[4]).whole;
  return {};
}

// stack: ... OrderedDict state -> OrderedDict; the state is its _metadata, which nobody needs
Status PickleMachine::drop_state() {
  if (stack_.size() < 2 || at(stack_.back()).kind != PickleKind::dict ||
      at(stack_[stack_.size() - 2]).kind != PickleKind::dict) {
    return broken("it sets the state of an object");
  }
  pop();
  return {};
}

}  // namespace engram
