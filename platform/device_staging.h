// Operands that a device cannot reach, brought to where it can for the time of one operation.
//
//     StagingTurn turn(memory);
//     ENGRAM_TRY(turn.begin());           // place() only what memory.reaches() not
//     ENGRAM_ASSIGN(void* there, turn.place(data, pitch, bytes, rows, /*comes_back=*/true));
//     ... work on turn.stream() ...
//     return turn.end(status);
//
// Every operation of a device's table is one turn (kernels/staged_call.h), so each is correct with
// any memory, and costs no copy for memory that the device reaches. Turns wait for each other:
// there is one queue and one staging memory per device, and when a turn ends no work is under way.
//
// Staging memory is kept and grows to what the largest operation needed: no memory is taken once
// every kind of operation has run.
#pragma once

#include <array>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include "platform/device_memory.h"
#include "platform/turn_lock.h"

namespace engram {

// What became of recording work (kernels/staged_sequence.h): a device that cannot do it computes all
// the same, only slower, so nothing else tells.
struct RecordingFacts {
  std::size_t recorded = 0, repeated = 0;  // pieces of work, so far
  Status failure;                          // why none is recorded any more
};

class DeviceStaging {
 public:
  explicit DeviceStaging(const DeviceMemory& memory) : memory_(memory) {}
  ~DeviceStaging();
  DeviceStaging(const DeviceStaging&) = delete;
  DeviceStaging& operator=(const DeviceStaging&) = delete;

  // The one of this device; it lives as long as the process.
  static DeviceStaging& of(const DeviceMemory& memory);

  // Room for `bytes` at once, taken now rather than in the first operation that needs it.
  Status reserve(std::size_t bytes);
  std::size_t bytes() const;  // of staging memory
  // Why the device is of no use any more: a failure of its own. Every later turn is refused with it.
  // Any thread may ask, also while another has its turn.
  Status lost() const;
  // `status`; the first failure of the device is kept as lost().
  Status noted(Status status);
  void try_again();  // for tests, whose devices come back
  // From now on the device's time of each operation is measured, without copies and waiting.
  void measure(bool is_on) { measures_ = is_on; }
  double work_seconds() const { return work_seconds_; }  // of the last operation
  std::size_t peak_bytes() const { return peak_; }       // that one turn took
  std::size_t copied_bytes() const { return copied_; }   // to the device and back, so far
  const RecordingFacts& recordings() const { return recordings_; }  // for who has the device alone

 private:
  friend class StagingTurn;
  friend class DeviceHold;
  struct Chunk {
    std::byte* data;
    std::size_t bytes;
  };
  Result<void*> take(std::size_t bytes);
  void clear();

  const DeviceMemory& memory_;
  TurnLock turn_;
  std::vector<Chunk> chunks_;   // one, but for the operation in which it grows
  std::size_t used_ = 0;        // of the last
  std::size_t turn_bytes_ = 0;  // of this turn
  std::size_t peak_ = 0;
  std::size_t copied_ = 0;
  bool measures_ = false;
  RecordingFacts recordings_;
  double work_seconds_ = 0;
  mutable std::mutex lost_mutex_;  // not the turn: who asks may hold what a turn waits for
  Status lost_;
};

// What allocate() gives, or `shared` allocate_shared(). That the device was lost is noted: who asks for
// memory often knows no more than that there is none, and lost() is what the CPU takes over by.
Result<void*> allocate_noted(const DeviceMemory& memory, std::size_t bytes, bool shared = false);

// While it lives the calling thread alone computes on the device and may touch its memory: needed
// where the device gives memory to one side at a time (device_memory.h), and nothing elsewhere. It
// nests, around turns too. Nothing that another thread needs in order to go on may be waited for,
// and locks are taken after it.
class DeviceHold {
 public:
  DeviceHold();
  ~DeviceHold();
  DeviceHold(const DeviceHold&) = delete;
  DeviceHold& operator=(const DeviceHold&) = delete;

  // Between the steps of long work, when nothing is half done that others can see: threads that wait
  // for the device, if this one holds it, have it first.
  static void let_others();

 private:
  DeviceStaging* held_ = nullptr;
};

class StagingTurn {
 public:
  explicit StagingTurn(const DeviceMemory& memory)
      : staging_(DeviceStaging::of(memory)), memory_(memory), lock_(staging_.turn_) {}

  // Refused: there is nothing to end.
  Status begin();
  Stream stream() const { return stream_; }
  // `rows` rows of `bytes`, `pitch` bytes apart. The copy's rows lie row_pitch(bytes) apart. What is to
  // come back and is placed again is where it was: an operation of a sequence may have written it.
  Result<void*> place(const void* data, std::size_t pitch, std::size_t bytes, std::size_t rows,
                      bool comes_back);
  // May work be recorded (platform/device_recording.h)? Not once that failed.
  bool records() const { return staging_.recordings_.failure.ok(); }
  void never_record(Status why) { staging_.recordings_.failure = std::move(why); }
  void note_recorded() { ++staging_.recordings_.recorded; }
  void note_repeated() { ++staging_.recordings_.repeated; }
  // The operation itself, between its copies: for timing.
  Status work_begins() { return staging_.measures_ ? memory_.mark(stream_, 0) : Status(); }
  Status work_ended() { return staging_.measures_ ? memory_.mark(stream_, 1) : Status(); }
  static constexpr std::size_t row_pitch(std::size_t bytes) { return (bytes + 15) / 16 * 16; }
  // Waits for the work; if it and `status` are well, what comes back is copied back. After a
  // failure what was staged is as it was before.
  Status end(Status status);

 private:
  Status prepare();
  Status copy_back();

  struct Return {
    void* host;
    std::size_t pitch;
    const void* device;
    std::size_t bytes, rows;
  };
  DeviceStaging& staging_;
  const DeviceMemory& memory_;
  std::lock_guard<TurnLock> lock_;
  Stream stream_;
  std::array<Return, 16> returns_{};  // more than any operation or sequence writes
  std::size_t return_count_ = 0;
};

}  // namespace engram
