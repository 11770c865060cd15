#include "tools/console/units.h"

#include <fmt/format.h>
#include <sys/resource.h>

namespace engram {

std::string bytes_text(std::int64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes);
  for (const char* unit : {"kB", "MB", "GB", "TB"}) {
    value /= 1000;
    if (value < 9.95) return fmt::format("{:.1f} {}", value, unit);
    if (value < 999.5) return fmt::format("{:.0f} {}", value, unit);
  }
  return fmt::format("{:.0f} PB", value / 1000);
}

std::string count_text(std::int64_t count) {
  std::string digits = fmt::to_string(count < 0 ? -count : count);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) digits.insert(at, " ");
  return (count < 0 ? "-" : "") + digits;
}

std::string plural(std::int64_t count, const std::string& one, const std::string& many) {
  return count_text(count) + " " + (count == 1 ? one : many);
}

std::int64_t peak_memory_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

}  // namespace engram
