// An operation of a device as the backend table offers it: with any memory, done when it returns.
//
//     .quantise = staged<cuda::kMemory, cuda::quantise>
//
// Operands that the device cannot reach are copied to staging memory and, if the operation may
// write them, back (platform/device_staging.h); then the operation runs on the process's queue, and
// the call waits for it, unless it is part of a sequence (staged_sequence.h). Operands in a learner's
// arena cost no copy.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "kernels/staged_operands.h"
#include "kernels/staged_sequence.h"
#include "platform/device_staging.h"

namespace engram {

template <const DeviceMemory& memory, class... Parameters>
Status call_staged(Status (*operation)(Stream, Parameters...),
                   const std::remove_reference_t<Parameters>&... parameters) {
  if (auto* const sequence = StagedSequence<memory>::open()) {
    return sequence->template add<Parameters...>(operation, parameters...);
  }
  StagingTurn turn(memory);
  ENGRAM_TRY(turn.begin());
  StagedOperands operands(memory, turn);
  const std::tuple<std::remove_cvref_t<Parameters>...> placed{operands.place(parameters)...};
  if (!operands.status().ok()) return turn.end(operands.status());
  Status status = turn.work_begins();
  if (status.ok()) {
    status = std::apply(
        [&](const auto&... operand) { return operation(turn.stream(), operand...); }, placed);
  }
  if (status.ok()) status = turn.work_ended();
  return turn.end(std::move(status));
}

template <class Operation>
struct StagedSignature;
template <class... Parameters>
struct StagedSignature<Status(Stream, Parameters...)> {
  template <const DeviceMemory& memory, Status (*operation)(Stream, Parameters...)>
  static Status call(Stream /*stream: the process's own*/, Parameters... parameters) {
    return call_staged<memory, Parameters...>(operation, parameters...);
  }
};
template <const DeviceMemory& memory, auto* operation>
inline constexpr auto* staged =
    &StagedSignature<std::remove_pointer_t<decltype(operation)>>::template call<memory, operation>;

}  // namespace engram
