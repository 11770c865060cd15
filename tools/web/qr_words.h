// The first half of a QR code: from text to the words that are drawn, with those that mend errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tools/web/qr_code.h"

namespace engram {

constexpr int kLargestQrVersion = 10;

std::size_t qr_capacity(int version, QrLevel level);  // bytes of text
// `text` must fit. As many bytes as the version has room for, blocks interleaved.
std::vector<std::uint8_t> qr_words(std::string_view text, int version, QrLevel level);

}  // namespace engram
