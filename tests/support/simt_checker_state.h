// What the checker knows of memory and of the launch. Why: simt_checker.h.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace engram::test {

// Who last read or wrote some bytes.
struct Record {
  const void* code = nullptr;  // null: nobody in this launch
  unsigned block = 0, thread = 0;
  unsigned epoch = 0;       // barriers of the block before it
  unsigned warp_syncs = 0;  // of the warp before it
  bool atomic = false;
};
struct Cell {  // `grain` bytes
  Record write, reader, other_reader;
  unsigned launch = 0;
  bool initialised = false;
};
struct Range {  // a block of device memory, or a shared variable
  const char* begin;
  const char* end;
  bool shared = false;
  std::size_t grain = 4;  // bytes per cell; 1 once a smaller access has been seen
  std::vector<Cell> cells;
};
struct WarpSyncs {
  unsigned count = 1;
  unsigned last[32][32] = {};  // the last one that both lanes took part in
};

struct Checker {
  std::map<const char*, Range> ranges;  // by end
  std::vector<std::pair<const char*, const char*>> program;
  unsigned launch = 0, block = 0, epoch = 0;
  std::vector<WarpSyncs> warps;
  std::set<std::pair<const void*, const void*>> reported;
  std::string findings;
  bool busy = false;     // the checker's own accesses, through templates that kernels use too
  bool stopped = false;  // at an address that does not exist
};
Checker& checker();
Range* range_of(const char* address);  // null: no memory of the device
void refine(Range& range);             // to cells of one byte

}  // namespace engram::test
