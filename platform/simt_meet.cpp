// Where threads meet: barriers of a block, collectives of a warp, and what goes wrong there.
#include <bit>
#include <cstdio>
#include <cstring>

#include "platform/simt_block.h"
#include "platform/simt_hooks.h"
#include "platform/simt_machine.h"

namespace engram::simt {
namespace {

// What is wrong, and where. abandon() follows in a statement of its own: it leaves the fiber's stack as
// it is, so that a string still alive there would never be freed.
void report_at(const std::string& what, Place place) {
  block().reporting = true;
  report(what + " at " + text_of(place) + ", " + text_of(*running));
}

bool same(Place a, Place b) {
  return a.line == b.line && std::strcmp(a.file, b.file) == 0;
}

std::string lanes_text(unsigned mask) {
  char text[16];
  std::snprintf(text, sizeof text, "%08x", mask);
  return text;
}

void release_barrier() {
  Block& b = block();
  const int yes = b.barrier_yes;
  b.barrier_result = b.barrier_vote == Vote::all   ? yes == static_cast<int>(b.threads)
                     : b.barrier_vote == Vote::any ? yes > 0
                                                   : yes;
  b.barrier_yes = 0;
  b.waiting = 0;
  for (unsigned t = 0; t < b.threads; ++t) make_ready(*b.workers[t]);
  if (hooks().barrier) hooks().barrier();
}

Collective& join(Warp& warp, const char* name, unsigned mask, Combine* combine, Place place) {
  Collective* free = nullptr;
  for (Collective& c : warp.collectives) {
    if (c.mask == 0 && free == nullptr) free = &c;
    if ((c.mask & mask) == 0) continue;
    if (c.mask != mask || c.combine != combine || !same(c.place, place)) {
      report_at(
          std::string(name) + ": other lanes of the mask are at " + c.name + " " + text_of(c.place),
          place);
      abandon();
    }
    return c;
  }
  if (free == nullptr) {
    report_at(std::string(name) + ": a warp in more than four parts", place);
    abandon();
  }
  *free = {.mask = mask, .arrived = 0, .name = name, .combine = combine, .place = place};
  return *free;
}

}  // namespace

std::string text_of(Place place) {
  const char* slash = std::strrchr(place.file, '/');
  return std::string(slash != nullptr ? slash + 1 : place.file) + ":" + std::to_string(place.line);
}
std::string text_of(const Thread& t) {
  char text[128];
  std::snprintf(text, sizeof text, "block (%u,%u,%u) thread (%u,%u,%u)", t.block.x, t.block.y,
                t.block.z, t.index.x, t.index.y, t.index.z);
  return text;
}

void report(const std::string& what) {
  if (block().error.empty()) block().error = what;
}
void fail(const char* what, Place place) {
  report_at(what, place);
  abandon();
}

int barrier(const char* name, Vote vote, bool predicate, Place place) {
  Block& b = block();
  if (b.waiting > 0 && !same(b.barrier_place, place)) {
    report_at(std::string(name) + ": threads wait at another barrier, " + text_of(b.barrier_place),
              place);
    abandon();
  }
  b.barrier_place = b.current->at = place;
  b.barrier_vote = vote;
  b.barrier_yes += predicate;
  if (++b.waiting == b.threads) {
    release_barrier();
    wait_as(State::ready);  // the order of the launch says who goes on first
  } else {
    wait_as(State::at_barrier);
  }
  return b.barrier_result;
}

Lane& meet(const char* name, unsigned mask, const void* in, std::size_t bytes, Combine* combine,
           Place place) {
  Block& b = block();
  Worker& me = *b.current;
  Warp& warp = b.warps[me.thread.warp];
  const unsigned bit = 1u << me.thread.lane;
  if ((mask & bit) == 0) {
    report_at(std::string(name) + ": the calling lane is not in its mask", place);
    abandon();
  }
  if ((mask & (~warp.exist | warp.exited)) != 0) {
    report_at(std::string(name) + ": the mask names lanes that have left or never were, " +
                  lanes_text(mask & (~warp.exist | warp.exited)),
              place);
    abandon();
  }
  Collective& collective = join(warp, name, mask, combine, place);
  Lane& lane = warp.lanes[me.thread.lane];
  if (bytes > 0) std::memcpy(lane.in, in, bytes);
  collective.arrived |= bit;
  me.at = place;
  if (collective.arrived != mask) {
    wait_as(State::in_collective);
    return lane;
  }
  bool failed = false;
  if (combine != nullptr) {
    std::string error;
    combine(warp.lanes, mask, error);
    failed = !error.empty();
    if (failed) report_at(std::string(name) + ": " + error, place);
  }
  if (hooks().collective) hooks().collective(name);
  if (combine == nullptr && hooks().warp_sync) hooks().warp_sync(me.thread.warp, mask);
  collective.mask = 0;
  for (unsigned rest = mask & ~bit; rest != 0; rest &= rest - 1) {
    make_ready(*b.workers[me.thread.warp * kWarp + std::countr_zero(rest)]);
  }
  if (failed) abandon();
  return lane;
}

std::string why_nobody_runs() {
  const Block& b = block();
  for (unsigned t = 0; t < b.threads; ++t) {
    const Worker& worker = *b.workers[t];
    if (worker.state != State::in_collective) continue;
    for (const Collective& c : b.warps[worker.thread.warp].collectives) {
      if ((c.arrived & c.mask) == 0) continue;
      return std::string(c.name) + ": lanes " + lanes_text(c.mask & ~c.arrived) +
             " of the mask never come, at " + text_of(c.place) + ", " + text_of(worker.thread);
    }
  }
  return "a barrier that some threads never reach: " + std::to_string(b.waiting) + " of " +
         std::to_string(b.threads) + " threads wait at " + text_of(b.barrier_place) + ", " +
         std::to_string(b.left) + " have left the kernel";
}

}  // namespace engram::simt
