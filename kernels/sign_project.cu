// sign_project on the GPU. Math, shapes and layout: sign_project.h.
//
// Signs as bytes of 0 and 1: with S the sum of q where the bit is set and T the sum of all of q,
//
//     p = 2 S - T
//
// Four of them in two instructions: `word >> j & 0x01010101` has the bits j, j + 8, j + 16, j + 24
// of a word of W. So q is staged in shared memory in that order, eight words for 32 inputs, word j
// holding the inputs j, j + 8, j + 16, j + 24; zero past L, so that the spare bits do not matter.
//
//     one frame     limited by reading W. A lane owns four units and reads their words at once (128
//                   bits); the warps of a block share the rows of W, each word is read once.
//     more frames   tensor cores: W is the left operand, 16 units by 32 inputs, unpacked in
//                   registers; q is the right one, 32 inputs by 8 frames.
#include "kernels/sign_project.h"

#include "kernels/sign_batch.h"
#include "platform/launch.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {
namespace {

constexpr int kWarp = 32;
constexpr int kWordInputs = 32;  // inputs of a word of W
constexpr int kWords = 8;        // words of shared memory that hold them
constexpr int kLaneUnits = 4;    // neighbouring units of a lane: one 128-bit access
constexpr std::uint32_t kOnes = 0x01010101u;

struct Aligned {  // for 128-bit accesses
  bool q, w, p;
};

// The byte i of a, b, c and d, for each i.
__device__ __forceinline__ void transpose_bytes(std::uint32_t a, std::uint32_t b, std::uint32_t c,
                                                std::uint32_t d, std::uint32_t* out) {
  const std::uint32_t ab_low = __byte_perm(a, b, 0x5140), ab_high = __byte_perm(a, b, 0x7362);
  const std::uint32_t cd_low = __byte_perm(c, d, 0x5140), cd_high = __byte_perm(c, d, 0x7362);
  out[0] = __byte_perm(ab_low, cd_low, 0x5410);
  out[1] = __byte_perm(ab_low, cd_low, 0x7632);
  out[2] = __byte_perm(ab_high, cd_high, 0x5410);
  out[3] = __byte_perm(ab_high, cd_high, 0x7632);
}

// The 32 inputs that belong to word k, in the order above, to `staged`. Returns their sum. A frame
// or a word that does not exist is zeros.
__device__ __forceinline__ std::int32_t stage_inputs(MatrixView<const std::int8_t> q, int frame,
                                                     int k, bool vectors, std::uint32_t* staged) {
  std::uint32_t in[kWords] = {};
  const int count = frame < q.rows ? q.cols - kWordInputs * k : 0;
  if (vectors && count >= kWordInputs) {
    const std::int8_t* from = q.row(frame) + kWordInputs * k;
    const auto low = load_vector<uint4>(from), high = load_vector<uint4>(from + 16);
    in[0] = low.x, in[1] = low.y, in[2] = low.z, in[3] = low.w;
    in[4] = high.x, in[5] = high.y, in[6] = high.z, in[7] = high.w;
  } else {
#pragma unroll
    for (int i = 0; i < kWordInputs; ++i) {
      if (i < count) {
        const auto byte = static_cast<std::uint8_t>(q(frame, kWordInputs * k + i));
        in[i / 4] |= static_cast<std::uint32_t>(byte) << 8 * (i % 4);
      }
    }
  }
  std::uint32_t out[kWords];
  transpose_bytes(in[0], in[2], in[4], in[6], out);
  transpose_bytes(in[1], in[3], in[5], in[7], out + 4);
  store_vector(staged, uint4{out[0], out[1], out[2], out[3]});
  store_vector(staged + 4, uint4{out[4], out[5], out[6], out[7]});
  std::int32_t sum = 0;
#pragma unroll
  for (int j = 0; j < kWords; ++j) sum = dot_bytes(kOnes, static_cast<std::int32_t>(out[j]), sum);
  return sum;
}

// Words (k, unit) ... (k, unit + 3), zero where there are none.
__device__ __forceinline__ void load_words(SignMatrixView w, int k, int unit, bool vectors,
                                           std::uint32_t (&words)[kLaneUnits]) {
  if (vectors) {  // and so there are four units, or none
    const uint4 four = k < w.word_rows() && unit < w.outputs
                           ? load_vector<uint4>(w.words + std::ptrdiff_t{w.outputs} * k + unit)
                           : uint4{};
    words[0] = four.x, words[1] = four.y, words[2] = four.z, words[3] = four.w;
    return;
  }
#pragma unroll
  for (int u = 0; u < kLaneUnits; ++u) {
    words[u] = k < w.word_rows() && unit + u < w.outputs ? w.word(k, unit + u) : 0u;
  }
}

// ---- one frame ------------------------------------------------------------------------------------
constexpr int kOneWarps = 8;
constexpr int kOneUnits = kWarp * kLaneUnits;  // of a block
constexpr int kOneStage = 64;                  // rows of W between two barriers: 2 KiB of q

// grid (ceil(M / 128)), block (256). Warp i of a block takes the rows i, i + 8, ... of W. A lane
// keeps one sum for each unit and each place j in a byte, of bytes that are 0 or 2^j: so a bit
// needs no shift, and the sums are shifted once, at the end.
__global__ void __launch_bounds__(kWarp* kOneWarps)
    one_frame_kernel(MatrixView<const std::int8_t> q, SignMatrixView w, MatrixView<std::int32_t> p,
                     Aligned aligned) {
  ENGRAM_SHARED(std::uint32_t, inputs, [kOneStage][kWords]);
  ENGRAM_SHARED(std::int32_t, sums, [kOneWarps][kOneUnits]);
  ENGRAM_SHARED(std::int32_t, totals, [kOneWarps]);
  const int thread = static_cast<int>(threadIdx.x), lane = thread % kWarp, warp = thread / kWarp;
  const int first_unit = static_cast<int>(blockIdx.x) * kOneUnits;

  std::int32_t sum[kLaneUnits][kWords] = {};
  std::int32_t total = 0;
  for (int stage = 0; stage < w.word_rows(); stage += kOneStage) {
    const int rows = min(kOneStage, w.word_rows() - stage);
    if (thread < rows) total += stage_inputs(q, 0, stage + thread, aligned.q, inputs[thread]);
    __syncthreads();
#pragma unroll 4
    for (int k = warp; k < rows; k += kOneWarps) {
      std::uint32_t words[kLaneUnits];
      load_words(w, stage + k, first_unit + kLaneUnits * lane, aligned.w, words);
      const auto low = load_vector<int4>(inputs[k]), high = load_vector<int4>(inputs[k] + 4);
      const std::int32_t in[kWords] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
      for (int j = 0; j < kWords; ++j) {
#pragma unroll
        for (int u = 0; u < kLaneUnits; ++u) {
          sum[u][j] = dot_bytes(words[u] & kOnes << j, in[j], sum[u][j]);
        }
      }
    }
    __syncthreads();  // the inputs are overwritten next
  }

#pragma unroll
  for (int u = 0; u < kLaneUnits; ++u) {
    std::int32_t s = 0;
#pragma unroll
    for (int j = 0; j < kWords; ++j) s += sum[u][j] >> j;
    sums[warp][kLaneUnits * lane + u] = s;
  }
  const auto warp_total = __reduce_add_sync(~0u, static_cast<unsigned>(total));
  if (lane == 0) totals[warp] = static_cast<std::int32_t>(warp_total);
  __syncthreads();
  if (thread >= kOneUnits || first_unit + thread >= w.outputs) return;
  std::int32_t value = 0;
#pragma unroll
  for (int i = 0; i < kOneWarps; ++i) value += 2 * sums[i][thread] - totals[i];
  p(0, first_unit + thread) = value;
}

// ---- more frames ------------------------------------------------------------------------------------
constexpr int kWarps = 4;
constexpr int kThreads = kWarp * kWarps;
constexpr int kWarpUnits = 32;  // two tiles of 16
constexpr int kTileFrames = 8;
constexpr int kStage = 4;  // rows of W between two barriers

// grid (ceil(M / 128), ceil(B / (8 kTiles))), block (128). A warp owns 32 units by 8 kTiles frames;
// which kTiles: sign_batch.h.
//
// Which unit is which row of a tile is ours to choose. Lane 4g + t needs the rows g and g + 8 of
// both tiles: we call them the units 4g ... 4g + 3, one 128-bit read of W, and its sums for one
// frame are four neighbours, one 128-bit write of p. Likewise for the inputs: lane 4g + t takes
// those at the places 2t and 2t + 1 of the bytes of a word, in W and in q.
template <int kTiles>
__global__ void __launch_bounds__(kThreads)
    many_frames_kernel(MatrixView<const std::int8_t> q, SignMatrixView w,
                       MatrixView<std::int32_t> p, Aligned aligned) {
  constexpr int kFrames = kTileFrames * kTiles;
  // A thread stages the same frame each time; of 64 places for 48 frames, 16 stay empty.
  constexpr int kPlaces = kThreads / (kThreads / kFrames);
  ENGRAM_SHARED(std::uint32_t, inputs, [kStage][kFrames][kWords]);
  ENGRAM_SHARED(std::int32_t, totals, [kThreads]);
  const int thread = static_cast<int>(threadIdx.x), lane = thread % kWarp, warp = thread / kWarp;
  const int g = lane / 4, t = lane % 4;
  const int unit = (static_cast<int>(blockIdx.x) * kWarps + warp) * kWarpUnits + kLaneUnits * g;
  const int first_frame = static_cast<int>(blockIdx.y) * kFrames;

  std::int32_t sum[2][kTiles][4] = {};
  std::int32_t total = 0;
  for (int stage = 0; stage < w.word_rows(); stage += kStage) {
    std::uint32_t words[kStage][kLaneUnits];  // on their way while q is staged
#pragma unroll
    for (int k = 0; k < kStage; ++k) load_words(w, stage + k, unit, aligned.w, words[k]);
#pragma unroll
    for (int first = 0; first < kStage * kPlaces; first += kThreads) {
      const int i = first + thread, k = i / kPlaces, frame = i % kPlaces;
      if (kStage * kPlaces < kThreads && i >= kStage * kPlaces) break;
      if (frame >= kFrames) break;
      total += stage_inputs(q, first_frame + frame, stage + k, aligned.q, inputs[k][frame]);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kStage; ++k) {
      std::uint32_t a[2][4];
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        a[0][r] = words[k][r % 2] >> (2 * t + r / 2) & kOnes;
        a[1][r] = words[k][2 + r % 2] >> (2 * t + r / 2) & kOnes;
      }
#pragma unroll
      for (int n = 0; n < kTiles; ++n) {
        const auto in = load_vector<uint2>(inputs[k][kTileFrames * n + g] + 2 * t);
        const std::uint32_t b[2] = {in.x, in.y};
        mma_u8s8(sum[0][n], a[0], b);
        mma_u8s8(sum[1][n], a[1], b);
      }
    }
    __syncthreads();  // the inputs are overwritten next
  }

  totals[thread] = total;
  __syncthreads();
#pragma unroll
  for (int n = 0; n < kTiles; ++n) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int frame = kTileFrames * n + 2 * t + h;
      if (first_frame + frame >= p.rows) continue;
      std::int32_t all = 0;
#pragma unroll
      for (int i = frame; i < kThreads; i += kPlaces) all += totals[i];
      const int4 four = {2 * sum[0][n][h] - all, 2 * sum[0][n][h + 2] - all, 2 * sum[1][n][h] - all,
                         2 * sum[1][n][h + 2] - all};
      std::int32_t* to = p.row(first_frame + frame) + unit;
      if (aligned.p && unit + kLaneUnits <= p.cols) {
        store_vector(to, four);
      } else {
        if (unit < p.cols) to[0] = four.x;
        if (unit + 1 < p.cols) to[1] = four.y;
        if (unit + 2 < p.cols) to[2] = four.z;
        if (unit + 3 < p.cols) to[3] = four.w;
      }
    }
  }
}

template <int kTiles>
Status launch_many(Stream stream, MatrixView<const std::int8_t> q, SignMatrixView w,
                   MatrixView<std::int32_t> p, Aligned aligned) {
  const dim3 grid(static_cast<unsigned>(divide_up(p.cols, kWarps * kWarpUnits)),
                  static_cast<unsigned>(divide_up(p.rows, kTileFrames * kTiles)));
  return launch(many_frames_kernel<kTiles>, {grid, dim3(kThreads)}, stream, q, w, p, aligned);
}

// All rows in one launch.
Status launch_rows(Stream stream, MatrixView<const std::int8_t> q, SignMatrixView w,
                   MatrixView<std::int32_t> p) {
  const Aligned vectors{.q = aligned(q.data, static_cast<std::size_t>(q.stride), 16),
                        .w = aligned(w.words, 4 * static_cast<std::size_t>(w.outputs), 16),
                        .p = aligned(p.data, 4 * static_cast<std::size_t>(p.stride), 16)};
  if (p.rows == 1) {
    const dim3 grid(static_cast<unsigned>(divide_up(p.cols, kOneUnits)));
    return launch(one_frame_kernel, {grid, dim3(kWarp * kOneWarps)}, stream, q, w, p, vectors);
  }
  switch (sign_tiles(p.rows)) {
    case 1:
      return launch_many<1>(stream, q, w, p, vectors);
    case 2:
      return launch_many<2>(stream, q, w, p, vectors);
    case 4:
      return launch_many<4>(stream, q, w, p, vectors);
    case 6:
      return launch_many<6>(stream, q, w, p, vectors);
    default:
      return launch_many<8>(stream, q, w, p, vectors);
  }
}

}  // namespace

Status sign_project(Stream stream, MatrixView<const std::int8_t> q, SignMatrixView w,
                    MatrixView<std::int32_t> p) {
  ENGRAM_CHECK(q.cols == w.inputs);
  ENGRAM_CHECK(p.rows == q.rows && p.cols == w.outputs);
  if (p.rows == 0 || p.cols == 0) return Status();
  const int first = first_sign_frames(p.rows, q.cols), rest = p.rows - first;
  ENGRAM_TRY(launch_rows(stream, q.row_range(0, first), w, p.row_range(0, first)));
  if (rest == 0) return Status();
  return launch_rows(stream, q.row_range(first, rest), w, p.row_range(first, rest));
}

}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
