#include "engine/teaching.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace engram {
namespace {

// Scores of one class's samples, each row by a readout without it, and without it and every second
// other.
struct ClassScores {
  std::vector<float> one_out, half_out;  // (n, K)
};

ClassScores scores_of(const LeftOut& left_out, std::span<const int> members) {
  const auto k = std::size_t(left_out.class_count());
  ClassScores scores;
  scores.one_out.resize(members.size() * k);
  for (std::size_t i = 0; i < members.size(); ++i) {
    left_out.leave_one(members[i], std::span(scores.one_out).subspan(i * k, k));
  }
  scores.half_out = scores.one_out;  // stays so where nothing can be halved
  if (members.size() < 4) return scores;
  for (std::size_t first : {0, 1}) {
    std::vector<int> half;
    for (std::size_t i = first; i < members.size(); i += 2) half.push_back(members[i]);
    std::vector<float> found(half.size() * k), leverages(half.size());
    if (!left_out.leave(half, found, leverages)) continue;
    for (std::size_t i = 0; i < half.size(); ++i) {
      std::copy_n(found.begin() + std::ptrdiff_t(i * k), k,
                  scores.half_out.begin() + std::ptrdiff_t((first + 2 * i) * k));
    }
  }
  return scores;
}

struct Margins {
  double mean = 0, deviation = 0;
};
Margins margins_of(const std::vector<float>& scores, std::size_t k, int own, int other) {
  Margins result;
  double sum = 0, squares = 0;
  const std::size_t n = scores.size() / k;
  for (std::size_t i = 0; i < n; ++i) {
    const double margin =
        scores[i * k + std::size_t(own)] - double(scores[i * k + std::size_t(other)]);
    sum += margin;
    squares += margin * margin;
  }
  result.mean = sum / double(n);
  result.deviation = std::sqrt(std::max(0.0, squares / double(n) - result.mean * result.mean));
  return result;
}

}  // namespace

int samples_to_show(int n, double margin, double deviation, double half_margin) {
  const double needed = deviation - margin;
  if (needed <= 0) return 1;
  if (n < 4) return std::max(1, n);
  const double gain = (margin - half_margin) / std::log2(2.0 * (n - 1) / n);
  if (gain <= 0 || needed >= gain) return n;
  return std::clamp(int(std::ceil(n * (std::exp2(needed / gain) - 1.0))), 1, n);
}

TeachingReport judge_teaching(const LeftOut& left_out, std::span<const std::int64_t> samples) {
  ENGRAM_CHECK(int(samples.size()) == left_out.class_count());
  const auto k = samples.size();
  TeachingReport report;
  for (int label = 0; label < left_out.class_count(); ++label) {
    const std::span<const int> members = left_out.members(label);
    ClassTeaching taught{.samples = samples[std::size_t(label)]};
    taught.too_few = taught.samples < kFewSamples;
    if (members.size() >= 2) {
      const ClassScores scores = scores_of(left_out, members);
      taught.judged = int(members.size());
      std::map<int, int> taken;
      for (std::size_t i = 0; i < members.size(); ++i) {
        const auto row = scores.one_out.begin() + std::ptrdiff_t(i * k);
        ++taken[int(std::max_element(row, row + std::ptrdiff_t(k)) - row)];
      }
      taught.right = taken[label];
      for (const auto& [other, count] : taken) {
        if (other == label || count == 0) continue;
        const Margins now = margins_of(scores.one_out, k, label, other);
        const Margins half = margins_of(scores.half_out, k, label, other);
        report.confusable.push_back(
            {label, other, count, taught.judged,
             samples_to_show(int(members.size()), now.mean, now.deviation, half.mean)});
      }
    }
    report.judged += taught.judged;
    report.right += taught.right;
    report.classes.push_back(taught);
  }
  std::stable_sort(report.confusable.begin(), report.confusable.end(),
                   [](const ConfusablePair& a, const ConfusablePair& b) {
                     return std::int64_t(a.count) * b.judged > std::int64_t(b.count) * a.judged;
                   });
  return report;
}

std::vector<DuplicatePair> find_duplicates(const GramView& kernel, float threshold, int limit) {
  std::vector<DuplicatePair> pairs;
  const auto most = std::size_t(std::max(limit, 0));
  const auto keep_best = [&] {
    std::stable_sort(
        pairs.begin(), pairs.end(),
        [](const DuplicatePair& a, const DuplicatePair& b) { return a.similarity > b.similarity; });
    if (pairs.size() > most) pairs.resize(most);
  };
  for (int r = 1; r < kernel.size; ++r) {
    for (int c = 0; c < r; ++c) {
      const double norms = std::sqrt(double(kernel.diagonal[r]) * kernel.diagonal[c]);
      const double dot = kernel.row(r)[c];
      if (norms <= 0 || dot < threshold * norms) continue;
      pairs.push_back({c, r, float(dot / norms)});
      if (pairs.size() >= 64 * most) keep_best();  // of N equal samples there are N^2 / 2
    }
  }
  keep_best();
  return pairs;
}

}  // namespace engram
