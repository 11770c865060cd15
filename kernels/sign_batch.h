// How sign_project shares a batch between launches on a GPU: sign_project.cu does it, kernel_work.cpp
// counts it.
//
// A block takes 8, 16, 32, 48 or 64 frames, and as long for one of them as for all. So a batch goes in
// blocks of 64, and what is left over in one smaller block, by a launch of its own.
//
//     frames   20     40     64     65          100          120
//     blocks   32     48     64     64, then 1  64, then 48  64, 64
//
// That launch reads W again. Up to 512 features reading is what takes the time, and all frames go at
// once.
#pragma once

namespace engram {

// Tiles of 8 frames of a block that takes `frames` at once, or of all blocks if these are more than 64.
constexpr int sign_tiles(int frames) {
  return frames <= 8 ? 1 : frames <= 16 ? 2 : frames <= 32 ? 4 : frames <= 48 ? 6 : 8;
}

// Frames of the first launch: all, or as many as fill blocks of 64.
constexpr int first_sign_frames(int frames, int features) {
  const int rest = frames % 64;
  return frames < 64 || features <= 512 || sign_tiles(rest) == 8 ? frames : frames - rest;
}

}  // namespace engram
