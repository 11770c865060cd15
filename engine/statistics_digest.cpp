// Statistics::digest: the same text for the same G and C, whichever form holds them.
//
// G is reduced to two numbers, xT G y for two pairs of fixed random vectors x and y of 32-bit words,
// in whole numbers modulo 2^64; a row c of C to x . c for the first vector of each pair. In the
// factored form that is a sum over samples, without G:
//
//     xT G y = sum over n of (x . h_n) (y . h_n),      x . c_k = sum over n of class k of x . h_n
//
// Both sums are exact, so both forms give the same numbers. Two different G have the same two numbers
// by a chance of about 2^-60. A row of F, which both forms have, is reduced as one of C is, with L further
// words of the vectors. Cost: M^2 operations dense, 4 N M factored. (A digest is against
// accidents, as checksums are, not against forgery.)
//
// In the `floating` arithmetic sums depend on their order, and so do digests: of the bits of G, C and F
// in the dense form, of the bits of the kept rows in the factored one. They are equal after saving
// and loading, and say nothing between forms.
#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "engine/statistics.h"
#include "platform/hash.h"
#include "platform/philox.h"
#include "platform/threads.h"

namespace engram {
namespace {

using Word = std::uint64_t;
constexpr int kVectors = 4;  // x and y, twice

struct Directions {
  explicit Directions(int size, int first = 0) : words(std::size_t(size)) {
    for (std::size_t m = 0; m < words.size(); ++m) {
      const auto index = std::uint32_t(first) + std::uint32_t(m);
      words[m] = philox({index, 0, 0, std::uint32_t(PhiloxStream::digest)}, 0);
    }
  }
  std::vector<PhiloxWords> words;
};

using Dots = std::array<Word, kVectors>;

template <class ToWord>
Dots dots(const Directions& directions, int count, ToWord&& word) {
  Dots sums{};
  for (int m = 0; m < count; ++m) {
    const Word value = word(m);
    const PhiloxWords& direction = directions.words[std::size_t(m)];
    for (int i = 0; i < kVectors; ++i) sums[i] += value * direction[i];
  }
  return sums;
}

struct Sketch {
  std::vector<std::array<Word, 2>> classes;
  std::array<Word, 2> gram{};
};

Sketch sketch_of(const DenseStatistics& dense, bool whole) {
  const auto word = [whole](float value) {
    return whole ? Word(std::int64_t(value)) : Word(std::bit_cast<std::uint32_t>(value));
  };
  const GramView& g = dense.gram();
  const Directions directions(g.size);
  Sketch sketch;
  const MatrixView<const float> sums = dense.sums();
  for (int k = 0; k < sums.rows; ++k) {
    const Dots row = dots(directions, g.size, [&](int m) { return word(sums(k, m)); });
    sketch.classes.push_back({row[0], row[2]});
  }
  std::vector<std::array<Word, 2>> rows(std::size_t(g.size));
  parallel_for(g.size, 64, [&](int begin, int end) {
    for (int r = begin; r < end; ++r) {
      // G[r,c] stands for itself and for G[c,r].
      const float* row = g.row(r);
      const Dots below = dots(directions, r, [&](int c) { return word(row[c]); });
      const PhiloxWords& own = directions.words[std::size_t(r)];
      const Word diagonal = word(g.diagonal[r]);
      for (int pair = 0; pair < 2; ++pair) {
        const Word x = own[2 * pair], y = own[2 * pair + 1];
        rows[std::size_t(r)][pair] =
            x * below[2 * pair + 1] + y * below[2 * pair] + diagonal * x * y;
      }
    }
  });
  for (const auto& row : rows) {
    for (int pair = 0; pair < 2; ++pair) sketch.gram[pair] += row[pair];
  }
  return sketch;
}

Sketch sketch_of(const FactoredStatistics& factored, int classes, int width, bool whole) {
  const KeptSamples& kept = factored.kept();
  const Directions directions(width);
  std::vector<Dots> samples(std::size_t(kept.size()));
  parallel_for(kept.size(), 16, [&](int begin, int end) {
    for (int n = begin; n < end; ++n) {
      if (whole) {
        const int block = n / KeptSamples::kBlockRows;
        const std::uint8_t* h = kept.block_hidden(block).byte_row(n % KeptSamples::kBlockRows);
        samples[std::size_t(n)] = dots(directions, width, [&](int m) { return Word(h[m]); });
      } else {
        const std::byte* row = kept.row(n);
        samples[std::size_t(n)] = dots(directions, width, [&](int l) {
          std::uint32_t bits = 0;
          std::memcpy(&bits, row + sizeof bits * std::size_t(l), sizeof bits);
          return Word(bits);
        });
      }
    }
  });
  Sketch sketch;
  sketch.classes.resize(std::size_t(classes));
  for (int n = 0; n < kept.size(); ++n) {
    const Dots& sample = samples[std::size_t(n)];
    auto& own = sketch.classes[std::size_t(kept.classes()[std::size_t(n)])];
    for (int pair = 0; pair < 2; ++pair) {
      own[pair] += sample[2 * pair];
      sketch.gram[pair] += sample[2 * pair] * sample[2 * pair + 1];
    }
  }
  return sketch;
}

void add_features(const FeatureSums& features, int units, bool whole, Sketch& sketch) {
  const auto word = [whole](double value) {
    return whole ? Word(std::int64_t(value)) : std::bit_cast<Word>(value);
  };
  const MatrixView<const double> sums = features.sums();
  const Directions directions(sums.cols, units);
  for (int k = 0; k < sums.rows; ++k) {
    const Dots row = dots(directions, sums.cols, [&](int l) { return word(sums(k, l)); });
    for (int pair = 0; pair < 2; ++pair) sketch.classes[std::size_t(k)][pair] += row[2 * pair];
  }
}

}  // namespace

std::string Statistics::digest(const std::string& config) const {
  const bool whole = config_.arithmetic == Arithmetic::exact;
  const int units = config_.hidden_units();
  Sketch sketch =
      dense_ ? sketch_of(*dense_, whole)
             : sketch_of(*factored_, classes_.size(), whole ? units : config_.features, whole);
  // Float sums of samples that are kept say nothing more, and taking back leaves crumbs in them.
  if (whole || dense_) add_features(features_, units, whole, sketch);
  const std::vector<ClassInfo>& classes = classes_.all();
  std::vector<std::size_t> order(classes.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return classes[a].label < classes[b].label; });
  std::string text = config;
  if (!features_.complete()) text += "\nno sums of features";
  for (const std::size_t k : order) {
    text += fmt::format("\n{}:{} {} {:016x}{:016x}", classes[k].label.size(), classes[k].label,
                        classes[k].samples, sketch.classes[k][0], sketch.classes[k][1]);
  }
  text += fmt::format("\n{:016x}{:016x}", sketch.gram[0], sketch.gram[1]);
  return kDigestKind + sha256_hex(std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace engram
