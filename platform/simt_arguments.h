// The pointers among a kernel's arguments, found through the fields of plain structs: so that the
// emulated device can refuse memory that a real one would not reach (device_memory_simt.cpp).
#pragma once

#include <type_traits>

namespace engram::simt {

struct AnyField {
  template <class T>
  operator T() const;
};

template <class T, class... Fields>
consteval int field_count() {
  if constexpr (requires { T{Fields{}..., AnyField{}}; }) {
    return field_count<T, Fields..., AnyField>();
  } else {
    return static_cast<int>(sizeof...(Fields));
  }
}

template <class Visit, class T>
void visit_pointers(const Visit& visit, const T& value);

template <class Visit, class... Values>
void visit_all(const Visit& visit, const Values&... values) {
  (visit_pointers(visit, values), ...);
}

template <class Visit, class T>
void visit_pointers(const Visit& visit, const T& value) {
  if constexpr (std::is_pointer_v<T>) {
    visit(value);
  } else if constexpr (std::is_class_v<T> && std::is_aggregate_v<T>) {
    constexpr int kFields = field_count<T>();
    static_assert(kFields <= 6, "add a line below");
    if constexpr (kFields == 1) {
      const auto& [a] = value;
      visit_all(visit, a);
    } else if constexpr (kFields == 2) {
      const auto& [a, b] = value;
      visit_all(visit, a, b);
    } else if constexpr (kFields == 3) {
      const auto& [a, b, c] = value;
      visit_all(visit, a, b, c);
    } else if constexpr (kFields == 4) {
      const auto& [a, b, c, d] = value;
      visit_all(visit, a, b, c, d);
    } else if constexpr (kFields == 5) {
      const auto& [a, b, c, d, e] = value;
      visit_all(visit, a, b, c, d, e);
    } else if constexpr (kFields == 6) {
      const auto& [a, b, c, d, e, f] = value;
      visit_all(visit, a, b, c, d, e, f);
    }
  }
}

}  // namespace engram::simt
