// Quantities as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace engram {

std::string bytes_text(
    std::int64_t bytes);  // "512 B", "1.5 MB", "412 MB", "2.1 GB" (powers of 1000)
std::string count_text(std::int64_t count);  // "17 458"
// "1 picture", "3 pictures", "2 classes".
std::string plural(std::int64_t count, const std::string& one, const std::string& many);

std::int64_t peak_memory_bytes();  // of this process so far

}  // namespace engram
