// The inside of the emulated machine: one block and its threads. Only simt_*.cpp include this.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "platform/simt_fiber.h"
#include "platform/simt_machine.h"

namespace engram::simt {

constexpr unsigned kWarp = 32;

enum class State : std::uint8_t { ready, at_barrier, in_collective, done };

struct Worker {  // runs one CUDA thread
  Thread thread{};
  Fiber fiber;
  State state = State::done;
  Place at{"", 0};  // where it waits
};

struct Collective {   // under way: some lanes of the mask have come
  unsigned mask = 0;  // 0: free
  unsigned arrived = 0;
  const char* name = "";
  Combine* combine = nullptr;
  Place place{"", 0};
};

struct Warp {
  Lane lanes[kWarp];
  Collective collectives[4];  // of disjoint masks
  unsigned exist = 0, ready = 0, exited = 0;
};

struct Shared {
  const void* key;
  void* memory;
};

struct Block {
  Launch launch{};
  Options options;
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<Warp> warps;
  Fiber scheduler;
  Worker* current = nullptr;  // null: the scheduler itself
  unsigned threads = 0;       // of the block
  unsigned left = 0;          // threads that have left the kernel

  unsigned waiting = 0;  // at the barrier
  Place barrier_place{"", 0};
  Vote barrier_vote = Vote::none;
  int barrier_yes = 0;     // predicates that held, so far
  int barrier_result = 0;  // of the last barrier

  std::vector<Shared> shared;
  std::string error;         // the first; ends the launch
  bool reporting = false;    // a report is being written: not the kernel's own code
  std::uint64_t random = 1;  // state of the generator
};
Block& block();  // of this thread of the host

void make_ready(Worker& worker);
void wait_as(State state);  // the current worker waits; another runs
void report(const std::string& what);
[[noreturn]] void abandon();  // the current worker and with it the block
std::string text_of(Place place);
std::string text_of(const Thread& thread);
std::string why_nobody_runs();
void free_shared();

}  // namespace engram::simt
