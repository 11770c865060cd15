// kernel_rows on the GPU. Math, shapes and numerics: kernel_rows.h.
//
// Bytes go to the byte tensor cores: `right` is the left operand, 16 samples by 32 units, `left` the
// right one, 8 samples by 32 units; both have their units side by side in memory, as fragments want
// them. A block owns 64 samples of `right`, which it reads once for 8 kTiles samples of `left`, 64
// units at a time by way of shared memory; the next 64 are on their way while these are multiplied.
#include "kernels/kernel_rows.h"

#include "kernels/dot_rows_device.h"
#include "platform/launch.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {
namespace {

constexpr int kWarps = 4;
constexpr int kThreads = 32 * kWarps;
constexpr int kBlockRows = 16 * kWarps;  // of `right`: a warp has 16
constexpr int kStageBytes = 64;          // units between two barriers
constexpr int kVectors = kStageBytes / 16;
constexpr int kRowWords = kStageBytes / 4 + 4;  // the four spare ones keep 32 lanes in 32 banks

// Units [unit, unit + 16) of a sample; zero where there are none.
__device__ __forceinline__ uint4 load_units(KeptView kept, int sample, int unit, bool vectors) {
  std::uint32_t words[4] = {};
  const int count = sample < kept.rows ? kept.cols - unit : 0;
  if (vectors && count >= 16) return load_vector<uint4>(kept.byte_row(sample) + unit);
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    if (i < count) {
      words[i / 4] |= static_cast<std::uint32_t>(kept.byte_row(sample)[unit + i]) << 8 * (i % 4);
    }
  }
  return {words[0], words[1], words[2], words[3]};
}

// A stage of kRows samples as 16-byte pieces, shared by the threads of a block.
template <int kRows>
struct Pieces {
  static constexpr int kCount = (kRows * kVectors + kThreads - 1) / kThreads;  // of a thread
  uint4 piece[kCount] = {};

  __device__ void load(KeptView kept, int first, int unit, bool vectors) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const int at = static_cast<int>(threadIdx.x) + kThreads * i;
      if (at < kRows * kVectors) {
        piece[i] = load_units(kept, first + at / kVectors, unit + 16 * (at % kVectors), vectors);
      }
    }
  }
  __device__ void store(std::uint32_t (*rows)[kRowWords]) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const int at = static_cast<int>(threadIdx.x) + kThreads * i;
      if (at < kRows * kVectors) store_vector(rows[at / kVectors] + 4 * (at % kVectors), piece[i]);
    }
  }
};

// grid (ceil(B / (8 kTiles)), ceil(N / 64)), block (128): neighbouring blocks read the same samples
// of `right` at the same time, once from memory.
template <int kTiles>
__global__ void __launch_bounds__(kThreads)
    kernel_rows_kernel(KeptView left, KeptView right, MatrixView<float> k, bool vectors) {
  ENGRAM_SHARED(std::uint32_t, left_rows, [8 * kTiles][kRowWords]);
  ENGRAM_SHARED(std::uint32_t, right_rows, [kBlockRows][kRowWords]);
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int g = lane / 4, t = lane % 4;
  const int first_right = static_cast<int>(blockIdx.y) * kBlockRows;
  const int first_left = static_cast<int>(blockIdx.x) * 8 * kTiles;

  Pieces<8 * kTiles> next_left;
  Pieces<kBlockRows> next_right;
  next_left.load(left, first_left, 0, vectors);
  next_right.load(right, first_right, 0, vectors);
  std::int32_t sum[kTiles][4] = {};
  for (int unit = 0; unit < right.cols; unit += kStageBytes) {
    next_left.store(left_rows);
    next_right.store(right_rows);
    __syncthreads();
    next_left.load(left, first_left, unit + kStageBytes, vectors);
    next_right.load(right, first_right, unit + kStageBytes, vectors);
#pragma unroll
    for (int word = 0; word < kStageBytes / 4; word += 8) {
      std::uint32_t a[4];
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        a[r] = right_rows[16 * warp + g + 8 * (r % 2)][word + t + 4 * (r / 2)];
      }
#pragma unroll
      for (int n = 0; n < kTiles; ++n) {
        const std::uint32_t b[2] = {left_rows[8 * n + g][word + t],
                                    left_rows[8 * n + g][word + t + 4]};
        mma_u8u8(sum[n], a, b);
      }
    }
    __syncthreads();  // the rows are overwritten next
  }

#pragma unroll
  for (int n = 0; n < kTiles; ++n) {
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const int b = first_left + 8 * n + 2 * t + r % 2;
      const int sample = first_right + 16 * warp + g + 8 * (r / 2);
      if (b < k.rows && sample < k.cols) k(b, sample) = static_cast<float>(sum[n][r]);
    }
  }
}

template <int kTiles>
Status launch_bytes(Stream stream, KeptView left, KeptView right, MatrixView<float> k) {
  const auto row_bytes = static_cast<std::size_t>(left.cols);
  const bool vectors = aligned(left.bytes, row_bytes, 16) && aligned(right.bytes, row_bytes, 16);
  const dim3 grid(static_cast<unsigned>(divide_up(k.rows, 8 * kTiles)),
                  static_cast<unsigned>(divide_up(k.cols, kBlockRows)));
  return launch(kernel_rows_kernel<kTiles>, {grid, dim3(kThreads)}, stream, left, right, k,
                vectors);
}

MatrixView<const float> as_matrix(KeptView kept) {
  return {kept.floats, kept.rows, kept.cols, kept.cols};
}

}  // namespace

Status kernel_rows(Stream stream, KeptView left, KeptView right, MatrixView<float> k) {
  ENGRAM_CHECK(left.cols == right.cols);
  ENGRAM_CHECK((left.bytes != nullptr) == (right.bytes != nullptr));
  ENGRAM_CHECK(k.rows == left.rows && k.cols == right.rows);
  if (k.rows == 0 || k.cols == 0) return Status();
  if (left.bytes == nullptr) return dot_rows(stream, as_matrix(left), as_matrix(right), k);
  if (k.rows <= 8) return launch_bytes<1>(stream, left, right, k);
  return launch_bytes<4>(stream, left, right, k);
}

}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
