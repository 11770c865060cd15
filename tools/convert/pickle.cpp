#include "tools/convert/pickle.h"

#include <algorithm>

#include "tools/convert/pickle_machine.h"

namespace engram {

std::string safe_excerpt(const std::string& text, std::size_t most) {
  std::string result = text.substr(0, most);
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
  return PickleMachine(bytes.first(std::min(bytes.size(), kMaxPickle)), name).run();
}

}  // namespace engram
