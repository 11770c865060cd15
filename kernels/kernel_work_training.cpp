// What the operations of first-session adaptation do on a GPU. Here b is rows of activations, l their
// width, m the width that a linear map makes of it.
#include "kernels/kernel_work_rows.h"

namespace engram::kernel_work_rows {
namespace {

// The three products of a linear map: the same operands, each read or written once.
KernelWork linear(const Shape& s) {
  return library(4 * (s.b * s.l + s.m * s.l + s.b * s.m), 2 * s.b * s.l * s.m);
}
// Weights are read, added to and written; the bias is small beside them.
KernelWork linear_gradient(const Shape& s) {
  return library(4 * (s.b * s.l + 2 * s.m * s.l + s.b * s.m), 2 * s.b * s.l * s.m);
}

// A block for 32 columns, 16 warps that share the rows, four at a time.
KernelWork scale_shift_back(const Shape& s) {
  const double bytes = 12 * s.b * s.l, rows = up(s.b, 16);
  return {.kernel = "scale_shift_back.scale_shift_back",
          .blocks = up(s.l, 32),
          .primary = rows,  // multiply-adds, one for each row
          .bytes = bytes,
          .cached_bytes = bytes,
          .chain = up(rows, 4) + 1,
          .products = Products::floats,
          .least_bytes = bytes,
          .operations = 4 * s.b * s.l};
}

// A warp for each row, once for its length and once to divide: five multiply-adds each. The sums in
// double of the first pass are not in the main loop, and so not in the estimate.
KernelWork rows_by_warps(const char* kernel, const Shape& s, double matrices) {
  const double bytes = 4 * matrices * s.b * s.l;
  return {.kernel = kernel,
          .blocks = up(s.b, 4),
          .primary = 5 * up(s.l, 32),
          .bytes = bytes,
          .cached_bytes = bytes + 4 * (matrices - 1) * s.b * s.l,
          .chain = 2 * up(s.l, 128),
          .products = Products::floats,
          .least_bytes = bytes,
          .operations = 2 * matrices * s.b * s.l};
}

// One block of 8 warps; three passes over a row, two with an exponential: 20 multiply-adds.
KernelWork cross_entropy(const Shape& s) {
  const double bytes = 8 * s.b * s.k + 8 * s.b, rows = up(s.b, 8);
  return {.kernel = "cross_entropy.cross_entropy",
          .blocks = 1,
          .primary = 20 * up(s.k, 32) * rows,
          .bytes = bytes,
          .cached_bytes = 16 * s.b * s.k,
          .chain = rows * (2 + 3 * up(s.k, 128)),
          .products = Products::floats,
          .least_bytes = bytes,
          .operations = 10 * s.b * s.k};
}

constexpr Row kRows[] = {
    {"linear", true, linear},
    {"linear_back", true, linear},
    {"linear_gradient", true, linear_gradient},
    {"scale_shift", true,
     [](const Shape& s) { return elementwise("scale_shift.scale_shift", s.b, s.l, 8, 3); }},
    {"scale_shift_back", true, scale_shift_back},
    {"add_scaled", true,
     [](const Shape& s) { return elementwise("add_scaled.add_scaled", s.b, s.l, 12, 2); }},
    {"dropout", true, [](const Shape& s) { return elementwise("dropout.dropout", s.b, s.l, 8); }},
    {"unit_rows", true, [](const Shape& s) { return rows_by_warps("unit_rows.unit_rows", s, 2); }},
    {"unit_rows_back", true,
     [](const Shape& s) { return rows_by_warps("unit_rows_back.unit_rows_back", s, 3); }},
    {"cross_entropy", true, cross_entropy},
    {"sgd_step", true,
     [](const Shape& s) { return elementwise("sgd_step.sgd_step", s.b, s.l, 20, 3); }},
};

}  // namespace

std::span<const Row> training_rows() {
  return kRows;
}

}  // namespace engram::kernel_work_rows
