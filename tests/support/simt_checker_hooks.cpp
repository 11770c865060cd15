// How the checker learns what it knows: from the emulator's hooks.
#include <link.h>

#include "platform/simt_hooks.h"
#include "tests/support/simt_checker_state.h"

namespace engram::test {

Checker& checker() {
  static Checker current;
  return current;
}

Range* range_of(const char* address) {
  auto& ranges = checker().ranges;
  const auto at = ranges.upper_bound(address);
  return at != ranges.end() && address >= at->second.begin ? &at->second : nullptr;
}

void refine(Range& range) {  // to cells of one byte
  std::vector<Cell> fine;
  for (std::ptrdiff_t i = 0; i < range.end - range.begin; ++i) {
    fine.push_back(range.cells[static_cast<std::size_t>(i) / range.grain]);
  }
  range.cells.swap(fine);
  range.grain = 1;
}

namespace {

void allocated(const void* memory, std::size_t bytes) {
  const auto* begin = static_cast<const char*>(memory);
  if (bytes == 0) return;
  Range range{begin, begin + bytes, false, 4, std::vector<Cell>((bytes + 3) / 4)};
  checker().ranges.emplace(begin + bytes, std::move(range));
}
void freed(const void* memory) {
  Range* range = range_of(static_cast<const char*>(memory));
  if (range != nullptr) checker().ranges.erase(range->end);
}
void written(const void* memory, std::size_t bytes) {
  const auto* address = static_cast<const char*>(memory);
  Range* range = range_of(address);
  const auto offset = static_cast<std::size_t>(address - range->begin);
  if (offset % range->grain != 0 || bytes % range->grain != 0) refine(*range);
  for (std::size_t i = 0; i < bytes; i += range->grain) {
    range->cells[(offset + i) / range->grain].initialised = true;
  }
}
void warp_sync(unsigned warp, unsigned mask) {
  WarpSyncs& syncs = checker().warps[warp];
  ++syncs.count;
  for (unsigned a = 0; a < 32; ++a) {
    for (unsigned b = 0; b < 32; ++b) {
      if ((mask >> a & mask >> b & 1u) != 0) syncs.last[a][b] = syncs.count;
    }
  }
}
void launch_begins() {
  ++checker().launch;
  checker().findings.clear();
  checker().reported.clear();
}
void block_begins(unsigned block, unsigned threads) {
  Checker& k = checker();
  k.block = block;
  k.epoch = 0;
  k.warps.assign((threads + 31) / 32, WarpSyncs{});
}

const bool installed = [] {
  simt::hooks() = {
      .launch_begins = launch_begins,
      .launch_ends = [] { return checker().findings; },
      .block_begins = block_begins,
      .barrier = [] { ++checker().epoch; },
      .warp_sync = warp_sync,
      .allocated = allocated,
      .becomes_shared =
          [](const void* memory) { range_of(static_cast<const char*>(memory))->shared = true; },
      .written = written,
      .freed = freed};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void*) {
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& part = info->dlpi_phdr[i];
          if (part.p_type != PT_LOAD) continue;
          const auto* begin = reinterpret_cast<const char*>(info->dlpi_addr + part.p_vaddr);
          checker().program.emplace_back(begin, begin + part.p_memsz);
        }
        return 0;
      },
      nullptr);
  return true;
}();

}  // namespace
}  // namespace engram::test
