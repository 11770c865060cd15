// Errors as values.
//
// Two kinds of failure, never mixed:
//   Status, Result   the world failed: no memory, bad file, wrong input. The caller decides, and in
//                    the end a person reads what(): what happened, what was kept, what to do.
//   ENGRAM_CHECK     we failed: a broken precondition. Prints where, then aborts. Always compiled
//                    in; it guards once per call, never once per element.
//
// A Status that is ok is one null pointer and never allocates, so hot paths may return it freely.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace engram {

// Each code has one exit code of the program (tools/exit_code.h), after sysexits.h.
enum class Code : std::uint8_t {
  ok,
  invalid_argument,  // the request makes no sense: option, label, shape
  bad_data,          // an input file is broken or is not what it should be
  not_found,         // an input, a state or a model does not exist
  not_supported,     // this build or this machine cannot do it
  out_of_memory,     // the memory plan does not fit this machine
  device_failure,    // the GPU or its driver reported an error
  io_failure,        // the disk refused: full, read-only, broken
  busy,              // another process holds the state
  internal,          // a library failed in a way that the input does not explain
};

// Its name above, for programs to read.
constexpr const char* name(Code code) {
  constexpr const char* kNames[] = {"ok",
                                    "invalid_argument",
                                    "bad_data",
                                    "not_found",
                                    "not_supported",
                                    "out_of_memory",
                                    "device_failure",
                                    "io_failure",
                                    "busy",
                                    "internal"};
  return kNames[static_cast<int>(code)];
}

class [[nodiscard]] Status {
 public:
  Status() = default;  // ok
  // Records the caller's place. (Not std::source_location: clang 14's tools cannot parse it.)
  Status(Code code, std::string what, const char* file = __builtin_FILE(),
         int line = __builtin_LINE())
      : error_(std::make_shared<const Error>(Error{std::move(what), file, line, code})) {}

  bool ok() const { return error_ == nullptr; }
  Code code() const { return error_ ? error_->code : Code::ok; }
  const char* what() const { return error_ ? error_->what.c_str() : "ok"; }
  const char* file() const { return error_ ? error_->file : ""; }
  int line() const { return error_ ? error_->line : 0; }

 private:
  struct Error {
    std::string what;
    const char* file;
    int line;
    Code code;
  };
  std::shared_ptr<const Error> error_;
};

// A T, or the Status that says why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}         // NOLINT: meant to convert
  Result(Status status) : status_(std::move(status)) {  // NOLINT: meant to convert
    if (status_.ok()) std::abort();                     // a Result needs a reason
  }

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  T& value() & { return *checked(); }
  const T& value() const& { return *const_cast<Result*>(this)->checked(); }
  T&& value() && { return std::move(*checked()); }
  T* operator->() { return checked(); }
  const T* operator->() const { return const_cast<Result*>(this)->checked(); }
  T& operator*() & { return *checked(); }

 private:
  T* checked() {
    if (!value_) {
      std::fprintf(stderr, "%s:%d: unchecked failure: %s\n", status_.file(), status_.line(),
                   status_.what());
      std::abort();
    }
    return &*value_;
  }

  std::optional<T> value_;
  Status status_;
};

}  // namespace engram

// Leaves the function with the Status of `expression` unless it is ok.
#define ENGRAM_TRY(expression)                                                \
  do {                                                                        \
    if (::engram::Status engram_status = (expression); !engram_status.ok()) { \
      return engram_status;                                                   \
    }                                                                         \
  } while (false)

// ENGRAM_ASSIGN(auto image, read_image(path)): the value, or leaves the function with the Status.
#define ENGRAM_ASSIGN(declaration, expression) \
  ENGRAM_ASSIGN_IMPL(ENGRAM_CONCAT(engram_result_, __LINE__), declaration, expression)
#define ENGRAM_ASSIGN_IMPL(result, declaration, expression) \
  auto result = (expression);                               \
  if (!result.ok()) return result.status();                 \
  declaration = std::move(result).value()
#define ENGRAM_CONCAT(a, b) ENGRAM_CONCAT_IMPL(a, b)
#define ENGRAM_CONCAT_IMPL(a, b) a##b

#define ENGRAM_CHECK(condition)                                                          \
  do {                                                                                   \
    if (!(condition)) [[unlikely]] {                                                     \
      std::fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                      \
    }                                                                                    \
  } while (false)
