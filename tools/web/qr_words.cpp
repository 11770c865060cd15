#include "tools/web/qr_words.h"

#include <algorithm>

namespace engram {
namespace {

using Words = std::vector<std::uint8_t>;

// Table 9 of the standard: by version, low then medium.
constexpr int kMendingWords[2][kLargestQrVersion] = {{7, 10, 15, 20, 26, 18, 20, 24, 30, 18},
                                                     {10, 16, 26, 18, 24, 16, 18, 22, 22, 26}};
constexpr int kBlocks[2][kLargestQrVersion] = {{1, 1, 1, 1, 1, 2, 2, 2, 2, 4},
                                               {1, 1, 1, 2, 2, 4, 4, 4, 5, 5}};
constexpr int kAllWords[kLargestQrVersion] = {26, 44, 70, 100, 134, 172, 196, 242, 292, 346};

int row_of(QrLevel level) {
  return level == QrLevel::low ? 0 : 1;
}

int data_words(int version, QrLevel level) {
  const int row = row_of(level), column = version - 1;
  return kAllWords[column] - kMendingWords[row][column] * kBlocks[row][column];
}

int count_bits(int version) {
  return version < 10 ? 8 : 16;
}

// GF(256) with x^8 + x^4 + x^3 + x^2 + 1.
std::uint8_t multiply(std::uint8_t a, std::uint8_t b) {
  unsigned product = 0;
  for (int bit = 7; bit >= 0; --bit) {
    product = (product << 1) ^ ((product >> 7) * 0x11D);
    product ^= ((b >> bit) & 1u) * a;
  }
  return std::uint8_t(product);
}

// (x - 1)(x - a)(x - a^2)..., highest power first, without the leading 1.
Words generator(int degree) {
  Words result(std::size_t(degree), 0);
  result.back() = 1;
  std::uint8_t root = 1;
  for (int i = 0; i < degree; ++i) {
    for (std::size_t j = 0; j < result.size(); ++j) {
      result[j] = multiply(result[j], root);
      if (j + 1 < result.size()) result[j] ^= result[j + 1];
    }
    root = multiply(root, 2);
  }
  return result;
}

Words remainder(const Words& data, const Words& divisor) {
  Words result(divisor.size(), 0);
  for (const std::uint8_t word : data) {
    const std::uint8_t factor = word ^ result.front();
    std::rotate(result.begin(), result.begin() + 1, result.end());
    result.back() = 0;
    for (std::size_t i = 0; i < result.size(); ++i) result[i] ^= multiply(divisor[i], factor);
  }
  return result;
}

Words data_of(std::string_view text, int version, QrLevel level) {
  std::vector<bool> bits;
  const auto add = [&](unsigned value, int count) {
    for (int i = count - 1; i >= 0; --i) bits.push_back((value >> i & 1u) != 0);
  };
  add(0b0100, 4);  // bytes
  add(unsigned(text.size()), count_bits(version));
  for (const char letter : text) add(static_cast<unsigned char>(letter), 8);
  const std::size_t room = std::size_t(data_words(version, level));
  add(0, int(std::min<std::size_t>(4, room * 8 - bits.size())));
  Words words((bits.size() + 7) / 8, 0);
  for (std::size_t i = 0; i < bits.size(); ++i) {
    words[i / 8] |= std::uint8_t(unsigned(bits[i]) << (7 - i % 8));
  }
  for (std::uint8_t filler = 0xEC; words.size() < room; filler ^= 0xEC ^ 0x11) {
    words.push_back(filler);
  }
  return words;
}

}  // namespace

std::size_t qr_capacity(int version, QrLevel level) {
  return std::size_t(data_words(version, level) * 8 - 4 - count_bits(version)) / 8;
}

std::vector<std::uint8_t> qr_words(std::string_view text, int version, QrLevel level) {
  const Words data = data_of(text, version, level);
  const std::size_t count = std::size_t(kBlocks[row_of(level)][version - 1]);
  const std::size_t mending = std::size_t(kMendingWords[row_of(level)][version - 1]);
  const Words divisor = generator(int(mending));
  std::vector<Words> blocks, mends;
  for (std::size_t i = 0, at = 0; i < count; ++i) {
    // The last ones are longer by one word where it does not come out even.
    const std::size_t size = data.size() / count + (i >= count - data.size() % count ? 1 : 0);
    const auto begin = data.begin() + std::ptrdiff_t(at);
    blocks.emplace_back(begin, begin + std::ptrdiff_t(size));
    mends.push_back(remainder(blocks.back(), divisor));
    at += size;
  }
  Words words;
  const auto interleave = [&](const std::vector<Words>& all) {
    for (std::size_t i = 0; i < all.back().size(); ++i) {
      for (const Words& block : all) {
        if (i < block.size()) words.push_back(block[i]);
      }
    }
  };
  interleave(blocks);
  interleave(mends);
  return words;
}

}  // namespace engram
