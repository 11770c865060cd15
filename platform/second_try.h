// A call that is made again where what it failed of is gone: a GPU that was lost, in whose place the
// CPU computes now.
#pragma once

#include <new>
#include <utility>

#include "platform/status.h"

namespace engram {

inline const Status& status_of(const Status& status) {
  return status;
}
template <class T>
Status status_of(const Result<T>& result) {
  return result.status();
}

// What `call` returns, a Status or a Result. That memory ran out is one of its failures, told as
// `no_memory`: a lost GPU gives none either. If it fails and `is_mended`, asked with why, says so, what
// it returns the second time.
template <class Call, class IsMended>
auto second_try(const Call& call, const char* no_memory, const IsMended& is_mended)
    -> decltype(call()) {
  using Outcome = decltype(call());
  const auto with_memory = [&](const auto& attempt) -> Outcome {
    try {
      return attempt();
    } catch (const std::bad_alloc&) {
      return Status(Code::out_of_memory, no_memory);
    }
  };
  Outcome outcome = with_memory(call);
  if (outcome.ok()) return outcome;
  return with_memory(
      [&]() -> Outcome { return is_mended(status_of(outcome)) ? call() : std::move(outcome); });
}

}  // namespace engram
