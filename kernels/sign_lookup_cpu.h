// How sign_project works on a CPU: sums of four inputs, looked up by four weight bits at once.
//
// Four inputs have 16 sums +-a +-b +-c +-d, and four bits of W choose one: a byte shuffle makes 16
// or 32 such choices (units) in one instruction. A sum of four bytes does not fit a byte, so it is
// stored moved up by kBias (0 .. 1016) and cut in two digits of five bits, high and low. Eight
// groups of four make one word of W, and eight five-bit digits add up to at most 248: they are
// added as bytes, and widened to 16 bits only once per word.
//
//     p = 32 * (sum of high digits) + (sum of low digits) - kBias * (number of groups)
//
// Inputs past L count as zero, whatever their spare bit says.
#pragma once

#include <cstddef>
#include <cstdint>

namespace engram::cpu {

inline constexpr int kLookupInputs = 4;                  // inputs per look-up
inline constexpr int kWordLookups = 32 / kLookupInputs;  // look-ups per word of W
inline constexpr int kBias = 127 * kLookupInputs;        // makes every sum non-negative
inline constexpr int kHighShift = 5;
inline constexpr int kHighDigit = 1 << kHighShift;  // what one step of a high digit is worth
inline constexpr int kLookupUnits = 64;             // units come in multiples of this

// The tables for one word of W and one frame; digits[g] belongs to the inputs 4g .. 4g+3.
struct alignas(32) WordTable {
  struct {
    std::uint8_t low[16];
    std::uint8_t high[16];
  } digits[kWordLookups];
};

// Limits of one block of work, so that tables and sums stay in a first-level cache. The 16-bit sums
// cannot overflow a signed 16-bit number: 248 * 64 < 2^15.
inline constexpr int kMaxTables = 64;    // 16 KiB: frames * words
inline constexpr int kMaxFrames = 4;     // they share the unpacking of W
inline constexpr int kBlockUnits = 512;  // 8 KiB of 16-bit sums for 4 frames

struct LookupBlock {
  const std::uint32_t* words;   // (word_rows, units) of W
  std::ptrdiff_t words_stride;  // from one row of words to the next
  const WordTable* tables;      // (frames, word_rows)
  std::int32_t* p;              // (frames, units)
  std::ptrdiff_t p_stride;
  int word_rows;
  int frames;
  int units;  // a multiple of kLookupUnits
  bool add;   // add to p instead of setting it
};

void build_word_table(const std::int8_t* inputs, int count, WordTable& table);

using Lookup = void(const LookupBlock& block);
Lookup lookup_avx2;  // sign_lookup_avx2.cpp, x86_64 only
Lookup lookup_neon;  // sign_lookup_neon.cpp, aarch64 only

}  // namespace engram::cpu
