// The rules by which an access is judged. What and why: simt_checker.h.
#include "tests/support/simt_checker.h"

#include <algorithm>
#include <utility>

#include "platform/simt_hooks.h"
#include "platform/simt_machine.h"
#include "tests/support/simt_checker_state.h"

namespace engram::test {
namespace {

void find_fault(const void* code, const void* other_code, const std::string& what) {
  Checker& k = checker();
  if (!k.reported.emplace(std::min(code, other_code), std::max(code, other_code)).second) return;
  if (k.reported.size() <= 20) k.findings += (k.findings.empty() ? "" : "\n") + what;
}

std::string who(unsigned block, unsigned thread) {
  return "block " + std::to_string(block) + " thread " + std::to_string(thread);
}
std::string where(const Range& range, const char* address) {
  return "byte " + std::to_string(address - range.begin) + " of " +
         (range.shared ? "a shared variable of " : "a buffer of ") +
         std::to_string(range.end - range.begin);
}

// Does what is recorded happen before what the running thread does now?
bool ordered(const Record& before, const Record& now) {
  if (before.block != now.block) return false;
  if (before.thread == now.thread || before.epoch != now.epoch) return true;
  if (before.thread / 32 != now.thread / 32) return false;
  const WarpSyncs& syncs = checker().warps[now.thread / 32];
  return syncs.last[before.thread % 32][now.thread % 32] > before.warp_syncs;
}

void check_race(const Record& before, bool before_wrote, const Record& now, bool writes,
                const Range& range, const char* address) {
  if (before.code == nullptr || (before.atomic && now.atomic) || ordered(before, now)) return;
  find_fault(before.code, now.code,
             std::string("race: ") + (writes ? "write" : "read") + " at " + source_line(now.code) +
                 " by " + who(now.block, now.thread) + " and " + (before_wrote ? "write" : "read") +
                 " at " + source_line(before.code) + " by " + who(before.block, before.thread) +
                 ", " + where(range, address));
}

void check_cell(Cell& cell, const Record& now, AccessKind kind, const Range& range,
                const char* address) {
  if (cell.launch != checker().launch) {
    cell.write = cell.reader = cell.other_reader = Record{};
    cell.launch = checker().launch;
  }
  const bool writes = kind != AccessKind::read;
  if (kind != AccessKind::write && !cell.initialised) {
    find_fault(now.code, now.code,
               "uninitialised: read at " + source_line(now.code) + " by " +
                   who(now.block, now.thread) + ", " + where(range, address));
  }
  check_race(cell.write, true, now, writes, range, address);
  if (writes) {
    check_race(cell.reader, false, now, writes, range, address);
    check_race(cell.other_reader, false, now, writes, range, address);
    cell.write = now;
    cell.initialised = true;
    return;
  }
  const Record& first = cell.reader;
  const bool replaces =
      first.code == nullptr ||
      (first.block == now.block && (first.thread == now.thread || first.epoch != now.epoch));
  (replaces ? cell.reader : cell.other_reader) = now;
}

void out_of_bounds(const char* address, std::size_t bytes, bool writes, const Record& now) {
  std::string near;
  for (const auto& [end, range] : checker().ranges) {
    if (address >= range.begin - 4096 && address < end + 4096) near = ", " + where(range, address);
  }
  find_fault(now.code, now.code,
             std::string("out of bounds: ") + (writes ? "write" : "read") + " of " +
                 std::to_string(bytes) + " bytes at " + source_line(now.code) + " by " +
                 who(now.block, now.thread) + near);
  checker().stopped = true;
}

void judge(const char* address, std::size_t bytes, AccessKind kind, const void* code) {
  Checker& k = checker();
  const bool writes = kind != AccessKind::read;
  const unsigned thread = simt::running->linear;
  const Record now{
      code, k.block, thread, k.epoch, k.warps[thread / 32].count, kind == AccessKind::atomic};
  Range* range = range_of(address);
  if (range == nullptr || address + bytes > range->end) {
    if (simt::own_stack(address) || simt::machine_memory(address)) return;
    for (const auto& [begin, end] : k.program) {
      if (!writes && address >= begin && address < end) return;
    }
    return out_of_bounds(address, bytes, writes, now);
  }
  const auto offset = static_cast<std::size_t>(address - range->begin);
  if (offset % range->grain != 0 || bytes % range->grain != 0) refine(*range);
  for (std::size_t i = 0; i < bytes; i += range->grain) {
    check_cell(range->cells[(offset + i) / range->grain], now, kind, *range, address + i);
  }
}

}  // namespace

void check_access(const void* address, std::size_t bytes, AccessKind kind, const void* code) {
  Checker& k = checker();
  if (k.busy || !simt::in_kernel()) return;
  k.busy = true;
  judge(static_cast<const char*>(address), bytes, kind, code);
  k.busy = false;
  if (std::exchange(k.stopped, false)) simt::fail("stopped there", simt::Place("", 0));
}

}  // namespace engram::test
