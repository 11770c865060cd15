#include "kernels/kernel_work.h"

#include <algorithm>

#include "kernels/kernel_work_rows.h"
#include "kernels/leverage.h"
#include "platform/status.h"

namespace engram {
namespace {

using namespace kernel_work_rows;

KernelWork quantise(const Shape& s) {
  KernelWork work = elementwise("quantise.quantise", s.b, s.l, 5);
  work.blocks = s.b;  // a row each
  work.primary = up(s.l, 256);
  work.chain = work.primary;
  return work;
}

KernelWork gram_update(const Shape& s) {
  constexpr double kTile = 64, kPass = 256, kBand = 8;
  const double tiles = up(s.m, kTile), blocks = tiles * (tiles + 1) / 2;
  const double passes = up(s.b, kPass), frames = std::min(s.b, kPass);
  const double g = passes * 8 * s.m * (s.m + 1) / 2;  // read and written
  const double h = 4 * s.b * s.m, panel = 4 * frames * kTile;
  if (!s.whole_numbers) return library(g + h, s.b * s.m * (s.m + 1));
  return {.kernel = "gram_update.gram_update",
          .launches = passes,
          .blocks = blocks,
          .primary = 16 * up(frames, 32),
          .bytes = g + (h <= s.cache / 2 ? h : passes * blocks * panel / kBand),
          .cached_bytes = g + passes * blocks * 2 * panel,
          .chain = up(frames, 32) + 1,
          .products = Products::halves,
          .least_bytes = g + h,
          .operations = s.b * s.m * (s.m + 1)};
}

KernelWork class_sums(const Shape& s) {
  const double bytes = 4 * s.b * s.m + 8 * std::min(s.b, s.k) * s.m;
  return {.kernel = "class_sums.class_sums",
          .blocks = up(s.m, 128),
          .primary = 3 * s.b,  // reads: label, unit, sum
          .bytes = bytes,
          .cached_bytes = 12 * s.b * s.m,
          .chain = s.b + 1,  // sums of the same class wait for each other
          .products = Products::floats,
          .least_bytes = bytes,
          .operations = 2 * s.b * s.m};
}

// dot_rows_device.h: `rows` rows of `length` floats, once for 1, 4 or 16 rows on the left.
KernelWork dot_rows(const char* operation, double left, double rows, double length, double cache) {
  const int at_once = left == 1 ? 1 : left <= 4 ? 4 : 16, of_warp = at_once == 16 ? 2 : 1;
  const double right = 4 * rows * length, down = up(left, at_once);
  const double across = up(rows, 4 * of_warp), others = 4 * left * (length + rows);
  return {.kernel = std::string(operation) + ".dot_rows<" + std::to_string(at_once) + ", " +
                    std::to_string(of_warp) + ">",
          .blocks = across * down,
          .primary = at_once * of_warp * up(length, 32),
          .bytes = again(right, down, cache) + others,
          .cached_bytes = right * down + 4 * at_once * length * across * down,
          .chain = up(length, 128),
          .products = Products::floats,
          .least_bytes = right + others,
          .operations = 2 * left * rows * length};
}

// Wf once for 1, 4 or 16 frames.
KernelWork feature_score(const Shape& s) {
  const int frames = s.b == 1 ? 1 : s.b <= 4 ? 4 : 16;
  const double weights = 4 * s.k * s.l, down = up(s.b, frames), across = up(s.k, 4);
  const double others = s.b * (s.l + 8 * s.k);
  return {.kernel = "feature_score.feature_score<" + std::to_string(frames) + ">",
          .blocks = across * down,
          .primary = frames * up(s.l, 32),
          .bytes = again(weights, down, s.cache) + others,
          .cached_bytes = weights * down + frames * s.l * 4 * across * down,
          .chain = up(s.l, 128) + 1,
          .products = Products::floats,
          .least_bytes = weights + others,
          .operations = 2 * s.b * s.k * s.l};
}

// The probes once for 1, 4 or 16 frames; the second launch, of the squares, is a few microseconds.
KernelWork leverage(const Shape& s) {
  constexpr double kProbes = kLeverageProbes;
  const int frames = s.b == 1 ? 1 : s.b <= 4 ? 4 : 16, probes = frames == 16 ? 2 : 1;
  const double values = 2 * kProbes * s.m, down = up(s.b, frames), across = up(kProbes, probes);
  const double others = 4 * s.b * (s.m + 2 * kProbes + 1);
  return {
      .kernel = "leverage.products<" + std::to_string(frames) + ", " + std::to_string(probes) + ">",
      .blocks = across * down,
      .primary = frames * probes * up(s.m, 128),
      .bytes = again(values, down, s.cache) + others,
      .cached_bytes = values * down + 4 * frames * s.m * across * down,
      .chain = up(s.m, 512),
      .products = Products::floats,
      .least_bytes = values + others,
      .operations = 2 * s.b * kProbes * s.m};
}

// column_sums_device.h: `depth` rows of `cols` elements, once for eight rows on the left.
KernelWork column_sums(const char* kernel, double left, double depth, double cols,
                       double element_bytes, double out_bytes, double cache) {
  const double right = element_bytes * depth * cols, down = up(left, 8);
  const double others = 4 * left * depth + out_bytes * left * cols;
  return {.kernel = kernel,
          .blocks = up(cols, 256) * down,
          .primary = 16 * depth,
          .around = up(depth, 128),
          .bytes = again(right, down, cache) + others,
          .cached_bytes = right * down + 4 * 8 * depth * up(cols, 256) * down,
          .chain = up(depth, 4),
          .products = Products::floats,
          .least_bytes = right + others,
          .operations = 2 * left * depth * cols};
}

KernelWork kernel_rows(const Shape& s) {
  if (!s.whole_numbers) return dot_rows("kernel_rows", s.b, s.n, s.m, s.cache);
  const int tiles = s.b <= 8 ? 1 : 4;
  const double right = s.n * s.m, left = s.b * s.m, out = 4 * s.b * s.n, stages = up(s.m, 64);
  const double across = up(s.b, 8 * tiles), down = up(s.n, 64);
  // Blocks that share rows of `right` run side by side, eight of a multiprocessor at a time.
  return {.kernel = "kernel_rows.kernel_rows<" + std::to_string(tiles) + ">",
          .blocks = across * down,
          .primary = 2 * tiles * stages,
          .bytes = right + again(left, up(down, 8), s.cache) + out,
          .cached_bytes = right * across + left * down + out,
          .chain = stages,
          .products = Products::bytes,
          .least_bytes = right + left + out,
          .operations = 2 * s.b * s.n * s.m};
}

constexpr Row kRows[] = {
    {"quantise", true, quantise},
    {"sign_project", true, sign_project_work},
    {"activate", true,
     [](const Shape& s) { return elementwise("activate.activate", s.b, s.m, 8); }},
    {"project", true,
     [](const Shape& s) { return column_sums("project.project", s.b, s.l, s.m, 4, 4, s.cache); }},
    {"score", true,
     [](const Shape& s) {
       if (s.b <= 64) return dot_rows("score", s.b, s.k, s.m, s.cache);
       return library(4 * (s.b * s.m + s.k * s.m + s.b * s.k), 2 * s.b * s.k * s.m);
     }},
    {"feature_score", true, feature_score},
    {"leverage", true, leverage},
    {"gram_update", true, gram_update},
    {"class_sums", true, class_sums},
    {"kernel_rows", true, kernel_rows},
    {"combine_rows", false,
     [](const Shape& s) {
       return s.whole_numbers
                  ? column_sums("combine_rows.combine_rows<byte>", s.k, s.n, s.m, 1, 8, s.cache)
                  : column_sums("combine_rows.combine_rows<float>", s.k, s.n, s.m, 4, 8, s.cache);
     }},
    {"cholesky", false, [](const Shape& s) { return library(4 * s.m * s.m, s.m * s.m * s.m / 3); }},
    {"cholesky_solve", false,
     [](const Shape& s) { return library(4 * s.m * s.m + 8 * s.k * s.m, 2 * s.k * s.m * s.m); }},
    {"inverse_diagonal", false,
     [](const Shape& s) { return library(2 * s.m * s.m, s.m * s.m * s.m / 3); }},
    {"factor_append", true,
     [](const Shape& s) {
       const double known = std::max(s.m - s.b, 0.0), more = s.m - known;
       return library(4 * s.m * s.m - 2 * known * known,
                      more * known * (known + more) + more * more * more / 3);
     }},
    {"triangular_solve", true,
     [](const Shape& s) { return library(2 * s.m * s.m + 8 * s.b * s.m, s.b * s.m * s.m); }},
};

const Row* find_row(const std::string& operation) {
  for (const std::span<const Row> rows :
       {std::span<const Row>(kRows), training_rows(), transformer_rows()}) {
    const auto row =
        std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return operation == r.name; });
    if (row != rows.end()) return &*row;
  }
  return nullptr;
}
const Row& row_of(const std::string& operation) {
  const Row* const row = find_row(operation);
  ENGRAM_CHECK(row != nullptr);
  return *row;
}
std::vector<std::string> names_of(std::span<const Row> rows) {
  std::vector<std::string> names;
  for (const Row& row : rows) names.emplace_back(row.name);
  return names;
}

}  // namespace

std::vector<std::string> estimated_operations() {
  return names_of(kRows);
}
std::vector<std::string> estimated_training_operations() {
  return names_of(training_rows());
}
std::vector<std::string> estimated_transformer_operations() {
  return names_of(transformer_rows());
}
bool is_estimated(const std::string& operation) {
  return find_row(operation) != nullptr;
}

bool has_batch(const std::string& operation) {
  return row_of(operation).has_batch;
}

KernelWork kernel_work(const std::string& operation, const OperationShape& shape,
                       double cache_bytes) {
  return row_of(operation).work({double(shape.frames), double(shape.features), double(shape.units),
                                 double(shape.classes), double(shape.samples), cache_bytes,
                                 shape.whole_numbers, double(shape.tokens), double(shape.heads)});
}

}  // namespace engram
