// The work of sign_project, by launches as sign_project.cu makes them.
#include <string>

#include "kernels/kernel_work_rows.h"
#include "kernels/sign_batch.h"

namespace engram::kernel_work_rows {
namespace {

KernelWork sign_one_frame(const Shape& s) {
  const double word_rows = up(s.l, 32), w = 4 * word_rows * s.m, out = 4 * s.m;
  const double blocks = up(s.m, 128);
  // A warp takes every eighth row of W, and stages up to 64 rows of q.
  return {.kernel = "sign_project.one_frame",
          .blocks = blocks,
          .primary = (32 * word_rows + 8 * up(word_rows, 32)) / 8,  // the mean of eight warps
          .around = up(word_rows, 64),
          .bytes = w + s.l + out,
          .cached_bytes = w + out + blocks * s.l,
          .chain = 1 + up(word_rows, 32),
          .products = Products::bytes};
}

// One launch. Frames of the launch before may have driven W out of the cache.
KernelWork sign_frames(const Shape& s) {
  if (s.b == 1) return sign_one_frame(s);
  const int tiles = sign_tiles(int(s.b));
  const double word_rows = up(s.l, 32), w = 4 * word_rows * s.m, in = s.b * s.l;
  const double out = 4 * s.b * s.m, across = up(s.m, 128), down = up(s.b, 8 * tiles);
  return {.kernel = "sign_project.many_frames<" + std::to_string(tiles) + ">",
          .blocks = across * down,
          .primary = 2 * tiles * 4 * up(word_rows, 4),
          .bytes = again(w, down, s.cache) + in + out,
          .cached_bytes = w * down + in * across + out,
          .chain = up(word_rows, 4),
          .products = Products::bytes};
}

}  // namespace

KernelWork sign_project_work(const Shape& s) {
  Shape part = s;
  part.b = first_sign_frames(int(s.b), int(s.l));
  KernelWork work = sign_frames(part);
  part.b = s.b - part.b;
  if (part.b > 0) work.then = {sign_frames(part)};
  work.least_bytes = 4 * up(s.l, 32) * s.m + s.b * s.l + 4 * s.b * s.m;
  work.operations = 2 * s.b * s.l * s.m;
  return work;
}

}  // namespace engram::kernel_work_rows
