// sign_project on the CPU. Math, shapes and layout: sign_project.h.
//
// With byte shuffles (AVX2, NEON) by look-ups, see sign_lookup_cpu.h; here is how the work is cut:
//   tile    up to 4 frames, which share the unpacking of W
//   part    a run of units; more than one per tile only when there are too few tiles for the threads
//   chunk   as many words of W as 16 KiB of tables serve
//   block   up to 512 units
// Without them, 16 units advance together and the compiler makes SIMD of plain loops.
#include "kernels/sign_project.h"

#include <algorithm>
#include <cstring>

#include "kernels/sign_lookup_cpu.h"
#include "kernels/simd_cpu.h"
#include "platform/threads.h"

namespace engram::cpu {
namespace {

constexpr int kLanes = 16;                      // units per step of the portable code
constexpr std::int64_t kPartWeights = 1 << 18;  // below this, handing work over costs more

void project_lanes(const std::int8_t* q, SignMatrixView w, int first_unit, std::int32_t* p) {
  const int lanes = std::min(kLanes, w.outputs - first_unit);
  std::int32_t sum[kLanes] = {};
  for (int k = 0; k < w.word_rows(); ++k) {
    std::uint32_t bits[kLanes] = {};
    for (int lane = 0; lane < lanes; ++lane) bits[lane] = w.word(k, first_unit + lane);

    const int inputs = std::min(32, w.inputs - 32 * k);  // never reads past q or the spare bits
    for (int j = 0; j < inputs; ++j) {
      const std::int32_t value = q[32 * k + j];
      for (int lane = 0; lane < kLanes; ++lane) {
        const auto minus = static_cast<std::int32_t>(bits[lane] >> j & 1u) - 1;  // -1 where W is -1
        sum[lane] += (value ^ minus) - minus;
      }
    }
  }
  std::copy_n(sum, lanes, p + first_unit);
}

// The units past the last multiple of kLookupUnits, by way of a padded copy of their words.
void look_up_rest(Lookup* lookup, LookupBlock block) {
  std::uint32_t words[kMaxTables * kLookupUnits];
  std::int32_t p[kMaxFrames * kLookupUnits];
  const int units = block.units;
  for (int k = 0; k < block.word_rows; ++k) {
    std::uint32_t* row = words + kLookupUnits * k;
    std::copy_n(block.words + block.words_stride * k, units, row);
    std::fill(row + units, row + kLookupUnits, 0u);
  }
  LookupBlock padded = block;
  padded.words = words;
  padded.words_stride = kLookupUnits;
  padded.p = p;
  padded.p_stride = kLookupUnits;
  padded.units = kLookupUnits;
  padded.add = false;
  lookup(padded);
  for (int b = 0; b < block.frames; ++b) {
    std::int32_t* out = block.p + block.p_stride * b;
    const std::int32_t* sum = p + kLookupUnits * b;
    for (int u = 0; u < units; ++u) out[u] = block.add ? out[u] + sum[u] : sum[u];
  }
}

// One tile and one part: the rows of q and p, the units [begin, end).
void project_part(Lookup* lookup, MatrixView<const std::int8_t> q, SignMatrixView w, int begin,
                  int end, MatrixView<std::int32_t> p) {
  WordTable tables[kMaxTables];
  const int chunk_words = kMaxTables / q.rows;
  for (int word = 0; word < w.word_rows(); word += chunk_words) {
    const int words = std::min(chunk_words, w.word_rows() - word);
    for (int b = 0; b < q.rows; ++b) {
      for (int k = 0; k < words; ++k) {
        const int input = 32 * (word + k);
        build_word_table(q.row(b) + input, std::min(32, w.inputs - input), tables[words * b + k]);
      }
    }
    for (int unit = begin; unit < end; unit += kBlockUnits) {
      LookupBlock block{.words = w.words + std::ptrdiff_t{w.outputs} * word + unit,
                        .words_stride = w.outputs,
                        .tables = tables,
                        .p = p.data + unit,
                        .p_stride = p.stride,
                        .word_rows = words,
                        .frames = q.rows,
                        .units = std::min(kBlockUnits, end - unit),
                        .add = word > 0};
      const int rest = block.units % kLookupUnits;
      block.units -= rest;
      lookup(block);
      if (rest == 0) continue;
      block.words += block.units;
      block.p += block.units;
      block.units = rest;
      look_up_rest(lookup, block);
    }
  }
}

void project_by_lookup(Lookup* lookup, MatrixView<const std::int8_t> q, SignMatrixView w,
                       MatrixView<std::int32_t> p) {
  const int tiles = (q.rows + kMaxFrames - 1) / kMaxFrames;
  const int blocks = (w.outputs + kBlockUnits - 1) / kBlockUnits;
  int part_blocks = blocks;
  if (tiles < 4 * thread_count()) {
    // Every part makes its own tables, so there are no more than are needed to share evenly.
    const std::int64_t block_weights =
        std::int64_t{kBlockUnits} * std::max(w.inputs, 1) * std::min(q.rows, kMaxFrames);
    const auto smallest = static_cast<int>(kPartWeights / block_weights + 1);
    const int even = (tiles * blocks - 1) / thread_count() + 1;
    part_blocks = std::clamp(tiles == 1 ? even : even / 2, std::min(smallest, blocks), blocks);
  }
  const int parts = (blocks + part_blocks - 1) / part_blocks;
  parallel_for(tiles * parts, 1, [&](int first_task, int end_task) {
    for (int task = first_task; task < end_task; ++task) {
      const int frame = task / parts * kMaxFrames;
      const int frames = std::min(kMaxFrames, q.rows - frame);
      const int begin = task % parts * part_blocks * kBlockUnits;
      const int end = std::min(w.outputs, begin + part_blocks * kBlockUnits);
      project_part(lookup, q.row_range(frame, frames), w, begin, end, p.row_range(frame, frames));
    }
  });
}

}  // namespace

void build_word_table(const std::int8_t* inputs, int count, WordTable& table) {
  // GNU vectors: plain operators, on any machine that gcc or clang know.
  using Eight = std::int16_t __attribute__((vector_size(16)));
  using EightBytes = std::uint8_t __attribute__((vector_size(8)));
  constexpr Eight kBit0 = {-1, 1, -1, 1, -1, 1, -1, 1};
  constexpr Eight kBit1 = {-1, -1, 1, 1, -1, -1, 1, 1};
  constexpr Eight kBit2 = {-1, -1, -1, -1, 1, 1, 1, 1};
  std::int16_t value[32] = {};
  for (int i = 0; i < count; ++i) value[i] = inputs[i];
  for (int g = 0; g < kWordLookups; ++g) {
    const std::int16_t* four = value + kLookupInputs * g;
    const Eight three = four[0] * kBit0 + four[1] * kBit1 + four[2] * kBit2 + std::int16_t{kBias};
    const Eight sums[2] = {three - four[3], three + four[3]};  // bit 3 clear, bit 3 set
    for (int half = 0; half < 2; ++half) {
      const auto low =
          __builtin_convertvector(sums[half] & std::int16_t{kHighDigit - 1}, EightBytes);
      const auto high = __builtin_convertvector(sums[half] >> kHighShift, EightBytes);
      std::memcpy(table.digits[g].low + 8 * half, &low, sizeof low);
      std::memcpy(table.digits[g].high + 8 * half, &high, sizeof high);
    }
  }
}

Status sign_project(Stream /*stream*/, MatrixView<const std::int8_t> q, SignMatrixView w,
                    MatrixView<std::int32_t> p) {
  ENGRAM_CHECK(q.cols == w.inputs);
  ENGRAM_CHECK(p.rows == q.rows && p.cols == w.outputs);
  if (p.rows == 0 || p.cols == 0) return Status();
  if (w.inputs == 0) {
    for (int b = 0; b < p.rows; ++b) std::fill_n(p.row(b), p.cols, 0);
    return Status();
  }
#if defined(__x86_64__)
  if (simd() == Simd::avx2) return project_by_lookup(lookup_avx2, q, w, p), Status();
#elif defined(__aarch64__)
  if (simd() == Simd::neon) return project_by_lookup(lookup_neon, q, w, p), Status();
#endif
  parallel_for(w.outputs, kBlockUnits, [&](int begin, int end) {
    for (int b = 0; b < q.rows; ++b) {
      for (int m = begin; m < end; m += kLanes) project_lanes(q.row(b), w, m, p.row(b));
    }
  });
  return Status();
}

}  // namespace engram::cpu
