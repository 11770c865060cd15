// Quantities as people read them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace engram {

std::string bytes_text(
    std::int64_t bytes);  // "512 B", "1.5 MB", "412 MB", "2.1 GB" (powers of 1000)
std::string count_text(std::int64_t count);  // "17 458"
// "1 picture", "3 pictures", "2 classes".
std::string plural(std::int64_t count, const std::string& one, const std::string& many);

double seconds_now();  // of a steady clock
double milliseconds_since(std::chrono::steady_clock::time_point start);
std::int64_t peak_memory_bytes();  // of this process so far

}  // namespace engram
