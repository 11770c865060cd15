#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "platform/half.h"
#include "tools/console/terminal.h"
#include "tools/features/npy.h"
#include "tools/features/npy_header.h"

namespace engram {
namespace {

constexpr std::string_view kNpyMagic("\x93NUMPY", 6);
constexpr std::size_t kMostHeaderBytes = 1 << 16;
constexpr int kMostTextBytes = 4096;  // of one element

// `count` bytes, most significant first or last.
std::uint64_t unsigned_at(const std::byte* at, int count, bool big_endian) {
  std::uint64_t value = 0;
  for (int i = 0; i < count; ++i) {
    value = value << 8 | std::to_integer<std::uint64_t>(at[big_endian ? i : count - 1 - i]);
  }
  return value;
}

std::int64_t signed_at(const std::byte* at, int count, bool big_endian) {
  const std::uint64_t value = unsigned_at(at, count, big_endian);
  const int unused = 64 - 8 * count;
  return std::int64_t(value << unused) >> unused;
}

bool is_code_point(std::uint32_t value) {
  return value <= 0x10FFFF && !(value >= 0xD800 && value <= 0xDFFF);
}

void append_utf8(std::string& text, std::uint32_t point) {
  if (point < 0x80) {
    text += char(point);
    return;
  }
  const int more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  constexpr std::uint32_t kLead[] = {0, 0xC0, 0xE0, 0xF0};
  text += char(kLead[more] | point >> 6 * more);
  for (int i = more - 1; i >= 0; --i) text += char(0x80 | (point >> 6 * i & 0x3F));
}

bool known(char kind, int bytes) {
  switch (kind) {
    case 'f':
      return bytes == 2 || bytes == 4 || bytes == 8;
    case 'i':
    case 'u':
      return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
    case 'b':
      return bytes == 1;
    case 'U':
    case 'S':
      return bytes >= 0 && bytes <= kMostTextBytes;
    default:
      return false;
  }
}

}  // namespace

Status NpyView::refuse(const std::string& what) const {
  return Status(Code::bad_data, fmt::format("{}: {}.", printable(name_), what));
}

std::string NpyView::type_text() const {
  switch (kind_) {
    case 'f':
      return fmt::format("float{}", 8 * item_bytes_);
    case 'i':
      return fmt::format("int{}", 8 * item_bytes_);
    case 'u':
      return fmt::format("uint{}", 8 * item_bytes_);
    case 'b':
      return "bool";
    default:
      return "text";
  }
}

std::string NpyView::shape_text() const {
  return fmt::format("({})", fmt::join(shape_, ", "));
}

Result<NpyView> NpyView::parse(std::span<const std::byte> bytes, std::string name) {
  NpyView view;
  view.name_ = std::move(name);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!text.starts_with(kNpyMagic) || bytes.size() < 12) {
    return view.refuse("this is no array that NumPy saved (.npy), or it is cut off");
  }
  const int version = std::to_integer<int>(bytes[6]);
  if (version < 1 || version > 3) {
    return view.refuse(fmt::format("version {} of the format is not known", version));
  }
  const std::size_t preamble = version == 1 ? 10 : 12;
  const std::size_t length = unsigned_at(bytes.data() + 8, version == 1 ? 2 : 4, false);
  if (length > kMostHeaderBytes || length > bytes.size() - preamble) {
    return view.refuse("its header is damaged or cut off");
  }
  view.data_ = bytes.subspan(preamble + length);
  ENGRAM_TRY(view.parse_header(text.substr(preamble, length)));
  return view;
}

Status NpyView::parse_header(std::string_view text) {
  auto header = parse_npy_header(text);
  if (!header.ok()) return refuse(header.status().what());
  std::string_view type = header->type;
  if (!type.empty() && (type[0] == '<' || type[0] == '>' || type[0] == '|' || type[0] == '=')) {
    big_endian_ = type[0] == '>';
    type.remove_prefix(1);
  }
  if (type.starts_with('O')) {
    return refuse(
        "it holds pickled Python objects, which could run code when read; save it again as "
        "numbers or as text (numpy.asarray(list_of_names))");
  }
  constexpr std::int64_t kUnknown = -1;
  std::int64_t size = kUnknown;
  if (type.size() >= 2 && type.size() <= 7) {
    size = 0;
    for (const char digit : type.substr(1)) {
      size = digit >= '0' && digit <= '9' && size >= 0 ? 10 * size + (digit - '0') : kUnknown;
    }
    kind_ = type[0];
  }
  if (kind_ == 'U' && size > 0) size *= 4;  // UTF-32
  if (size < 0 || size > kMostTextBytes || !known(kind_, int(size))) {
    return refuse(
        fmt::format("values of the type \"{}\" cannot be used here", printable(header->type)));
  }
  item_bytes_ = int(size);
  fortran_order_ = header->fortran_order;
  shape_ = std::move(header->shape);
  count_ = 1;
  for (const std::int64_t extent : shape_) {
    // More elements than bytes in memory could hold: 2^48 is more than any file.
    if (extent > 0 && count_ > (std::int64_t{1} << 48) / extent) {
      return refuse(fmt::format("its shape {} is impossible", shape_text()));
    }
    count_ *= extent;
  }
  const std::uint64_t wanted = std::uint64_t(count_) * std::uint64_t(item_bytes_);
  if (item_bytes_ == 0 && count_ > std::int64_t(kMostHeaderBytes)) {
    return refuse("it holds empty texts only");
  }
  if (wanted != data_.size()) {
    return refuse(fmt::format("{} of {} values need {} bytes, but {} are there{}", shape_text(),
                              type_text(), wanted, data_.size(),
                              wanted > data_.size() ? ": it is cut off" : ""));
  }
  return {};
}

const std::byte* NpyView::element(std::int64_t i) const {
  if (fortran_order_) {
    std::int64_t place = 0, weight = 1;
    for (std::size_t d = 0; d < shape_.size(); ++d) weight *= shape_[d];
    for (std::size_t d = shape_.size(); d-- > 0;) {  // the last index runs fastest in i
      weight /= shape_[d];
      place += i % shape_[d] * weight;
      i /= shape_[d];
    }
    i = place;
  }
  return data_.data() + i * item_bytes_;
}

double NpyView::real_at(std::int64_t i) const {
  const std::byte* at = element(i);
  if (kind_ == 'i') return double(signed_at(at, item_bytes_, big_endian_));
  const std::uint64_t bits = unsigned_at(at, item_bytes_, big_endian_);
  if (kind_ != 'f') return double(bits);
  if (item_bytes_ == 2) return from_half(std::uint16_t(bits));
  if (item_bytes_ == 4) return std::bit_cast<float>(std::uint32_t(bits));
  return std::bit_cast<double>(bits);
}

Result<std::vector<float>> NpyView::floats() const {
  if (is_text()) return refuse(fmt::format("numbers were expected, but it holds {}", type_text()));
  std::vector<float> values(static_cast<std::size_t>(count_));
  const bool plain = kind_ == 'f' && item_bytes_ == 4 && !fortran_order_ &&
                     big_endian_ == (std::endian::native == std::endian::big);
  if (plain && count_ > 0) std::memcpy(values.data(), data_.data(), data_.size());
  for (std::int64_t i = 0; i < count_; ++i) {
    float& value = values[std::size_t(i)];
    if (!plain) value = float(real_at(i));
    if (!std::isfinite(value)) {
      return refuse(
          fmt::format("value {} of {} is {}; every number must be finite", i, count_,
                      std::isnan(real_at(i)) ? "not a number (NaN)" : "infinite or beyond float"));
    }
  }
  return values;
}

Result<std::vector<std::int64_t>> NpyView::whole_numbers() const {
  std::vector<std::int64_t> values(static_cast<std::size_t>(count_));
  constexpr double kLargest = 9007199254740992.0;  // 2^53: doubles are exact below
  for (std::int64_t i = 0; i < count_; ++i) {
    if (is_text()) return refuse("whole numbers were expected, but it holds text");
    const double value = real_at(i);
    if (!(std::abs(value) < kLargest) || value != std::floor(value)) {
      return refuse(fmt::format("value {} is {}; a whole number was expected", i, value));
    }
    values[std::size_t(i)] = std::int64_t(value);
  }
  return values;
}

Result<std::vector<std::string>> NpyView::texts() const {
  if (!is_text()) return refuse(fmt::format("text was expected, but it holds {}", type_text()));
  std::vector<std::string> values;
  values.reserve(std::size_t(count_));
  for (std::int64_t i = 0; i < count_; ++i) {
    const std::byte* at = element(i);
    std::string text;
    if (kind_ == 'S') {
      text.assign(reinterpret_cast<const char*>(at), std::size_t(item_bytes_));
    } else {
      for (int b = 0; b < item_bytes_; b += 4) {
        const auto point = std::uint32_t(unsigned_at(at + b, 4, big_endian_));
        if (!is_code_point(point)) return refuse(fmt::format("text {} is not Unicode", i));
        append_utf8(text, point);
      }
    }
    text.erase(text.find_last_not_of('\0') + 1);  // numpy pads with zeros
    values.push_back(std::move(text));
  }
  return values;
}

}  // namespace engram
