#include "tests/support/archive_files.h"

#include <cstring>

#include <zlib.h>

namespace engram::test {

std::string little_endian(std::uint64_t value, int count) {
  std::string result;
  for (int i = 0; i < count; ++i, value >>= 8) result += static_cast<char>(value);
  return result;
}

std::string floats(const std::vector<float>& values) {
  std::string result(values.size() * sizeof(float), '\0');
  if (!values.empty()) std::memcpy(result.data(), values.data(), result.size());
  return result;
}

namespace {

std::string deflate_raw(const std::string& content) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, content.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

}  // namespace

std::string zip_archive(const std::vector<ZipMember>& members) {
  std::string file, directory;
  for (const ZipMember& member : members) {
    const std::string data = member.deflated ? deflate_raw(member.content) : member.content;
    const std::uint32_t crc =
        static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(member.content.data()),
                                         static_cast<uInt>(member.content.size())));
    // version, flags, method, time, date, crc, compressed, size, name, extra
    const std::string common = little_endian(20, 2) + little_endian(0, 2) +
                               little_endian(member.deflated ? 8 : 0, 2) + little_endian(0, 4) +
                               little_endian(crc, 4) + little_endian(data.size(), 4) +
                               little_endian(member.content.size(), 4) +
                               little_endian(member.name.size(), 2) + little_endian(0, 2);
    directory += std::string("PK\1\2") + little_endian(20, 2) + common + little_endian(0, 10) +
                 little_endian(file.size(), 4) + member.name;
    file += std::string("PK\3\4") + common + member.name + data;
  }
  return file + directory + "PK\5\6" + little_endian(0, 4) + little_endian(members.size(), 2) +
         little_endian(members.size(), 2) + little_endian(directory.size(), 4) +
         little_endian(file.size(), 4) + little_endian(0, 2);
}

std::string npy(const std::string& type, const std::string& shape, const std::string& data,
                bool fortran_order, int version) {
  std::string header = "{'descr': '" + type + "', 'fortran_order': ";
  header += fortran_order ? "True" : "False";
  header += ", 'shape': " + shape + ", }";
  const std::size_t preamble = version == 1 ? 10 : 12;
  while ((preamble + header.size()) % 64 != 63) header += ' ';
  header += '\n';
  return std::string("\x93NUMPY", 6) + char(version) + '\0' +
         little_endian(header.size(), version == 1 ? 2 : 4) + header + data;
}

std::string pickle(const std::string& body) {
  return std::string("\x80\x02") + body + ".";
}
std::string text(const std::string& value) {
  return std::string("X") + little_endian(value.size(), 4) + value;
}
std::string whole(std::int32_t value) {
  return std::string("J") + little_endian(static_cast<std::uint32_t>(value), 4);
}
std::string tuple(const std::vector<std::string>& items) {
  std::string result = "(";
  for (const std::string& item : items) result += item;
  return result + "t";
}
std::string global(const std::string& module, const std::string& name) {
  return std::string("c") + module + "\n" + name + "\n";
}
std::string dict(const std::vector<std::pair<std::string, std::string>>& items) {
  std::string result = "}(";
  for (const auto& [key, value] : items) result += text(key) + value;
  return result + "u";
}

std::string tensor(const TensorPiece& piece) {
  const auto wholes = [](const std::vector<std::int32_t>& values) {
    std::vector<std::string> items;
    for (const std::int32_t value : values) items.push_back(whole(value));
    return tuple(items);
  };
  const std::string storage = tuple({text("storage"), global("torch", piece.type), text(piece.key),
                                     text("cpu"), whole(piece.elements), "N"}) +
                              "Q";
  const std::string ordered = global("collections", "OrderedDict") + ")R";
  return global("torch._utils", "_rebuild_tensor_v2") +
         tuple({storage, whole(piece.offset), wholes(piece.sizes), wholes(piece.strides), "\x89",
                ordered}) +
         "R";
}

std::string legacy_checkpoint(const std::string& state, const std::vector<Storage>& storages) {
  std::string file = pickle("\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19") +
                     pickle(std::string("M") + little_endian(1001, 2)) +
                     pickle(dict({{"little_endian", "\x88"}})) + pickle(state);
  std::string keys = "](", data;
  for (const Storage& storage : storages) {
    keys += text(storage.key);
    data += little_endian(storage.elements, 8) + storage.content;
  }
  return file + pickle(keys + "e") + data;
}

}  // namespace engram::test
