#include "tools/convert/checkpoint.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "platform/zip.h"
#include "tools/convert/pickle.h"

namespace engram {

namespace {

using Bytes = std::span<const std::byte>;

constexpr std::size_t kMaxFile = std::size_t{1} << 31;  // products of two counts fit 63 bits
constexpr std::size_t kMaxStorage = std::size_t{1} << 30;
// 0x1950a86a20f9469cfc6c, as the pickle's LONG1 has it.
constexpr std::string_view kLegacyMagic("\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 10);

float half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  const float size = exponent == 31 ? (fraction ? NAN : INFINITY)
                     : exponent     ? std::ldexp(static_cast<float>(1024 + fraction), exponent - 25)
                                    : std::ldexp(static_cast<float>(fraction), -24);
  return bits & 0x8000 ? -size : size;
}

float bfloat(std::uint16_t bits) {
  const std::uint32_t wide = std::uint32_t{bits} << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

template <class T>
float read_as(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return static_cast<float>(value);
}

struct ElementType {
  const char* name;
  std::size_t size;
  float (*read)(const std::byte* at);
};
constexpr ElementType kTypes[] = {
    {"FloatStorage", 4, read_as<float>},
    {"DoubleStorage", 8, read_as<double>},
    {"HalfStorage", 2,
     [](const std::byte* at) {
       return half(static_cast<std::uint16_t>(read_as<std::uint16_t>(at)));
     }},
    {"BFloat16Storage", 2,
     [](const std::byte* at) {
       return bfloat(static_cast<std::uint16_t>(read_as<std::uint16_t>(at)));
     }},
    {"LongStorage", 8, read_as<std::int64_t>},
    {"IntStorage", 4, read_as<std::int32_t>},
    {"ShortStorage", 2, read_as<std::int16_t>},
    {"CharStorage", 1, read_as<std::int8_t>},
    {"ByteStorage", 1, read_as<std::uint8_t>},
    {"BoolStorage", 1, read_as<std::uint8_t>},
};

const ElementType& type_of(const PickleValue& storage) {
  for (const ElementType& type : kTypes) {
    if (storage.type_name == type.name) return type;
  }
  ENGRAM_CHECK(!"pickle.cpp lets through only the types above");
}

class Reader {
 public:
  explicit Reader(const std::string& name) : name_(name) {}
  Result<Checkpoint> legacy(Bytes bytes);
  Result<Checkpoint> zipped(Bytes bytes);

 private:
  Status broken(const std::string& what) const {
    return Status(Code::bad_data, fmt::format("{}: {}", name_, what));
  }
  Status add_storage(const PickleValue& storage, Bytes content);
  Result<Checkpoint> tensors(const Pickle& pickle);
  Result<CheckpointTensor> tensor(const Pickle& pickle, const PickleValue& value,
                                  const std::string& key);

  std::string name_;
  std::map<std::string, Bytes> storages_;         // by key: the elements
  std::vector<std::vector<std::byte>> unpacked_;  // owns storages of a ZIP
  std::int64_t values_left_ = kMaxCheckpointValues;
};

Status Reader::add_storage(const PickleValue& storage, Bytes content) {
  if (storage.whole < 0 ||
      static_cast<std::uint64_t>(storage.whole) > content.size() / type_of(storage).size) {
    return broken(fmt::format("storage {} is cut off", safe_excerpt(storage.text)));
  }
  storages_[storage.text] =
      content.first(static_cast<std::size_t>(storage.whole) * type_of(storage).size);
  return {};
}

Result<CheckpointTensor> Reader::tensor(const Pickle& pickle, const PickleValue& value,
                                        const std::string& key) {
  const auto wrong = [&](const char* what) {
    return broken(fmt::format("tensor {} {}", safe_excerpt(key), what));
  };
  const PickleValue& storage = pickle.at(value.items[0]);
  const std::vector<PickleRef>& sizes = pickle.at(value.items[2]).items;
  const std::vector<PickleRef>& strides = pickle.at(value.items[3]).items;
  const auto found = storages_.find(storage.text);
  if (found == storages_.end()) return wrong("has no data in the file");
  const ElementType& type = type_of(storage);
  const std::int64_t available = static_cast<std::int64_t>(found->second.size() / type.size);
  if (sizes.size() != strides.size() || sizes.size() > 8) return wrong("has an impossible shape");

  CheckpointTensor result;
  std::vector<std::int64_t> step;
  const std::int64_t offset = pickle.at(value.items[1]).whole;
  std::int64_t count = 1;
  std::int64_t last = offset;  // the highest element it reaches
  if (offset < 0 || offset > available) return wrong("lies outside its storage");
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t size = pickle.at(sizes[i]).whole;
    const std::int64_t stride = pickle.at(strides[i]).whole;
    if (pickle.at(sizes[i]).kind != PickleKind::whole ||
        pickle.at(strides[i]).kind != PickleKind::whole || size < 0 || size > available ||
        stride < 0 || (size > 1 && stride > available)) {
      return wrong("lies outside its storage");
    }
    count *= size;  // both at most `available`, so at most 2^31
    last += size > 1 ? (size - 1) * stride : 0;
    if (count > available || last > available) return wrong("lies outside its storage");
    result.shape.push_back(size);
    step.push_back(stride);
  }
  if (count > 0 && last >= available) return wrong("lies outside its storage");
  values_left_ -= count;
  if (values_left_ < 0) return broken("it holds more than 1 GB of tensors");

  // An odometer over the indices: the file's strides are often not row-major.
  result.values.resize(static_cast<std::size_t>(count));
  std::vector<std::int64_t> index(sizes.size(), 0);
  std::int64_t element = offset;
  for (float& out : result.values) {
    out = type.read(found->second.data() + static_cast<std::size_t>(element) * type.size);
    for (std::size_t i = index.size(); i-- > 0;) {
      element += step[i];
      if (++index[i] < result.shape[i]) break;
      element -= step[i] * result.shape[i];
      index[i] = 0;
    }
  }
  return result;
}

Result<Checkpoint> Reader::tensors(const Pickle& pickle) {
  const PickleValue* dict = &pickle.root();
  for (const char* key : {"state_dict", "model"}) {
    if (dict->kind != PickleKind::dict) break;
    if (const PickleValue* inner = pickle.find(*dict, key);
        inner && inner->kind == PickleKind::dict) {
      dict = inner;
    }
  }
  if (dict->kind != PickleKind::dict) return broken("it holds no dict of tensors");
  Checkpoint checkpoint;
  for (std::size_t i = 0; i + 1 < dict->items.size(); i += 2) {
    const PickleValue& key = pickle.at(dict->items[i]);
    const PickleValue& value = pickle.at(dict->items[i + 1]);
    if (key.kind != PickleKind::text || value.kind != PickleKind::tensor) continue;
    ENGRAM_ASSIGN(checkpoint[key.text], tensor(pickle, value, key.text));
  }
  if (checkpoint.empty()) return broken("it holds no tensors");
  return checkpoint;
}

// magic, protocol version, system, the state dict, keys of the storages: five pickles. Then each
// storage as its count (int64) and its elements.
Result<Checkpoint> Reader::legacy(Bytes bytes) {
  const auto next = [&]() -> Result<Pickle> {
    ENGRAM_ASSIGN(Pickle pickle, read_pickle(bytes, name_));
    bytes = bytes.subspan(pickle.size);
    return pickle;
  };
  ENGRAM_ASSIGN(const Pickle magic, next());
  if (magic.root().text != kLegacyMagic) return broken("it is not a PyTorch checkpoint");
  ENGRAM_ASSIGN(const Pickle version, next());
  if (version.root().whole != 1001) return broken("its PyTorch format version is unknown");
  ENGRAM_ASSIGN(const Pickle system, next());
  const PickleValue* little = system.root().kind == PickleKind::dict
                                  ? system.find(system.root(), "little_endian")
                                  : nullptr;
  if (!little || little->whole != 1) return broken("it was not written by a little-endian machine");
  ENGRAM_ASSIGN(const Pickle state, next());
  ENGRAM_ASSIGN(const Pickle keys, next());
  if (keys.root().kind != PickleKind::list) return broken("its list of storages is missing");

  std::map<std::string, const PickleValue*> storages;
  for (const PickleValue& value : state.values) {
    if (value.kind == PickleKind::storage) storages[value.text] = &value;
  }
  for (const PickleRef ref : keys.root().items) {
    const auto found = storages.find(keys.at(ref).text);
    if (found == storages.end()) {
      return broken(fmt::format("storage {} is not used", safe_excerpt(keys.at(ref).text)));
    }
    std::int64_t count = 0;
    if (bytes.size() < sizeof count) return broken("it is cut off");
    std::memcpy(&count, bytes.data(), sizeof count);
    bytes = bytes.subspan(sizeof count);
    if (count != found->second->whole) return broken("a storage has two sizes");
    ENGRAM_TRY(add_storage(*found->second, bytes));
    bytes = bytes.subspan(storages_[found->first].size());
  }
  return tensors(state);
}

Result<Checkpoint> Reader::zipped(Bytes bytes) {
  ENGRAM_ASSIGN(const ZipReader zip, ZipReader::parse(bytes, name_));
  std::string folder;
  const ZipReader::Member* data = nullptr;
  for (const ZipReader::Member& member : zip.members()) {
    const std::string_view name = member.name;
    if (name.size() > 9 && name.substr(name.size() - 9) == "/data.pkl") {
      data = &member;
      folder = member.name.substr(0, name.size() - 8);
    }
  }
  if (!data) return broken("it is a ZIP archive, but not a PyTorch checkpoint");
  if (const ZipReader::Member* order = zip.find(folder + "byteorder")) {
    ENGRAM_ASSIGN(const auto text, zip.read(*order, 16));
    if (text.size() != 6 || std::memcmp(text.data(), "little", 6) != 0) {
      return broken("it was not written by a little-endian machine");
    }
  }
  ENGRAM_ASSIGN(const auto text, zip.read(*data, kMaxPickle));
  ENGRAM_ASSIGN(const Pickle state, read_pickle(text, name_));
  std::size_t budget = kMaxStorage;
  for (const PickleValue& value : state.values) {
    if (value.kind != PickleKind::storage || storages_.count(value.text) != 0) continue;
    const ZipReader::Member* member = zip.find(folder + "data/" + value.text);
    if (!member) return broken(fmt::format("storage {} is missing", safe_excerpt(value.text)));
    ENGRAM_ASSIGN(auto content, zip.read(*member, budget));
    budget -= content.size();
    unpacked_.push_back(std::move(content));
    ENGRAM_TRY(add_storage(value, unpacked_.back()));
  }
  return tensors(state);
}

}  // namespace

Result<Checkpoint> parse_checkpoint(std::span<const std::byte> bytes, const std::string& name) {
  if (bytes.size() > kMaxFile) {
    return Status(Code::bad_data, fmt::format("{}: a checkpoint of over 2 GB is refused", name));
  }
  Reader reader(name);
  return ZipReader::looks_like_zip(bytes) ? reader.zipped(bytes) : reader.legacy(bytes);
}

}  // namespace engram
