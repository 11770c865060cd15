// A KernelSequence on a device: operations are noted with their operands, in the device's memory, and
// done at the end in one turn (platform/device_staging.h).
//
// A sequence of the same operations on the same operands as one before is recorded
// (platform/device_recording.h), and from then on repeated by one call. The first time it is done
// step by step: what a driver or a library loads at its first use cannot be loaded in a recording. A
// new readout, or another number of frames, is another sequence. A few are kept; they hold
// addresses, and no memory. A device that fails to record is not asked again: the steps do without, and
// DeviceStaging::recordings() says why.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "kernels/sign_project.h"
#include "kernels/staged_operands.h"
#include "platform/device_recording.h"
#include "platform/device_staging.h"

namespace engram {

// Is it the same operand? Of kinds that no sequence has it is enough to say no.
template <class T>
bool same_operand(const T& a, const T& b) {
  if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) return a == b;
  return false;
}
template <class T>
bool same_operand(const MatrixView<T>& a, const MatrixView<T>& b) {
  return a.data == b.data && a.rows == b.rows && a.cols == b.cols && a.stride == b.stride;
}
inline bool same_operand(const SignMatrixView& a, const SignMatrixView& b) {
  return a.words == b.words && a.inputs == b.inputs && a.outputs == b.outputs;
}

template <const DeviceMemory& memory>
class StagedSequence {
 public:
  StagedSequence() : turn_(memory), status_(turn_.begin()), has_begun_(status_.ok()) {}

  // Of the calling thread; null: none is open.
  static StagedSequence* open() { return mine() ? &*mine() : nullptr; }
  static void begin() {
    ENGRAM_CHECK(!mine());
    mine().emplace();
  }
  static Status end(bool wanted) {
    Status status = mine()->finish(wanted);
    mine().reset();
    return status;
  }

  template <class... Parameters>
  Status add(Status (*operation)(Stream, Parameters...),
             const std::remove_reference_t<Parameters>&... parameters) {
    using Noted = Call<Parameters...>;
    static_assert(sizeof(Noted) <= kCallBytes && std::is_trivially_destructible_v<Noted>);
    ENGRAM_TRY(status_);
    ENGRAM_CHECK(count_ < kMostSteps);
    StagedOperands operands(memory, turn_);
    Step& step = steps_[count_];
    new (step.call) Noted{operation, {operands.place(parameters)...}};
    step.run = &Noted::run;
    step.same = &Noted::same;
    step.copy = &Noted::copy;
    status_ = operands.status();
    ++count_;
    return status_;
  }

 private:
  static constexpr std::size_t kMostSteps = 8, kCallBytes = 256, kKept = 4;

  template <class... Parameters>
  struct Call {
    Status (*operation)(Stream, Parameters...);
    std::tuple<std::remove_cvref_t<Parameters>...> operands;

    static Status run(Stream stream, const void* call) {
      const Call& c = *static_cast<const Call*>(call);
      return std::apply([&](const auto&... operand) { return c.operation(stream, operand...); },
                        c.operands);
    }
    static bool same(const void* one, const void* other) {
      const Call &a = *static_cast<const Call*>(one), &b = *static_cast<const Call*>(other);
      return a.operation == b.operation &&
             same(a, b, std::make_index_sequence<sizeof...(Parameters)>());
    }
    template <std::size_t... i>
    static bool same(const Call& a, const Call& b, std::index_sequence<i...>) {
      return (same_operand(std::get<i>(a.operands), std::get<i>(b.operands)) && ...);
    }
    static void copy(void* to, const void* from) { new (to) Call(*static_cast<const Call*>(from)); }
  };
  struct Step {
    alignas(std::max_align_t) std::byte call[kCallBytes];
    Status (*run)(Stream, const void*) = nullptr;  // its address tells the kind of call
    bool (*same)(const void*, const void*) = nullptr;
    void (*copy)(void*, const void*) = nullptr;
  };
  struct Known {  // a sequence that has run
    std::array<Step, kMostSteps> steps;
    std::size_t count = 0;
    void* work = nullptr;  // its recording; null: there is none
    std::uint64_t used = 0;
  };

  static std::optional<StagedSequence>& mine() {
    static thread_local std::optional<StagedSequence> sequence;
    return sequence;
  }
  // Of the process, used in turns.
  static std::array<Known, kKept>& kept() {
    static auto* const all = new std::array<Known, kKept>();
    return *all;
  }

  Status finish(bool wanted) {
    if (!has_begun_) return std::move(status_);
    if (wanted && status_.ok() && count_ > 0) status_ = work();
    return turn_.end(std::move(status_));
  }
  Status work() {
    static std::uint64_t used = 0;
    Known* const known = find();
    if (known != nullptr && known->work == nullptr && turn_.records()) {
      Result<void*> recording = recorded();
      if (recording.ok()) {
        known->work = recording.value();
        turn_.note_recorded();
      } else {
        turn_.never_record(recording.status());
      }
    }
    ENGRAM_TRY(turn_.work_begins());
    if (known != nullptr && known->work != nullptr) {
      ENGRAM_TRY(memory.recordings->replay(turn_.stream(), known->work));
      turn_.note_repeated();
    } else {
      ENGRAM_TRY(run_steps());
    }
    ENGRAM_TRY(turn_.work_ended());
    (known != nullptr ? *known : remember()).used = ++used;
    return Status();
  }
  Known* find() const {
    for (Known& one : kept()) {
      if (is_same(one)) return &one;
    }
    return nullptr;
  }
  bool is_same(const Known& one) const {
    if (one.count != count_) return false;
    for (std::size_t i = 0; i < count_; ++i) {
      const Step &a = one.steps[i], &b = steps_[i];
      if (a.run != b.run || !a.same(a.call, b.call)) return false;
    }
    return true;
  }
  Status run_steps() const {
    for (std::size_t i = 0; i < count_; ++i) {
      ENGRAM_TRY(steps_[i].run(turn_.stream(), steps_[i].call));
    }
    return Status();
  }
  // Where it fails, that is no failure of the work: the steps are done, or say why not.
  Result<void*> recorded() const {
    ENGRAM_TRY(memory.recordings->begin(turn_.stream()));
    const Status noted = run_steps();
    Result<void*> work = memory.recordings->end(turn_.stream());
    if (noted.ok()) return work;
    if (work.ok()) memory.recordings->forget(work.value());
    return noted;  // the cause; that the end failed is what follows from it
  }
  // In place of the one that was not used for longest.
  Known& remember() const {
    Known& one = *std::ranges::min_element(kept(), {}, &Known::used);
    memory.recordings->forget(std::exchange(one.work, nullptr));
    for (std::size_t i = 0; i < count_; ++i) {
      one.steps[i].run = steps_[i].run;
      one.steps[i].same = steps_[i].same;
      one.steps[i].copy = steps_[i].copy;
      steps_[i].copy(one.steps[i].call, steps_[i].call);
    }
    one.count = count_;
    return one;
  }

  StagingTurn turn_;
  Status status_;
  const bool has_begun_;
  std::array<Step, kMostSteps> steps_;
  std::size_t count_ = 0;
};

}  // namespace engram
