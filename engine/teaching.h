// Have I taught enough? What leave-one-out says about each class, and what would help.
//
// Accuracy of a class: how often its samples are named rightly by a readout that learned all others
// (engine/left_out.h). A pair (shown, taken for) is confusable when that readout takes samples of
// `shown` for the other.
//
// How many more to show, a rule of thumb. Margin: a sample's score of its own class minus that of
// the other. `margin` and `deviation` are mean and spread over the class with one sample left out,
// `half_margin` the mean with every second one left out. The mean margin grows by about
//     gain = (margin - half_margin) / log2((n - 1) / (n / 2))
// with every doubling of n, and five samples in six are right once the mean reaches the spread:
//     more = n (2^((deviation - margin) / gain) - 1)
// rounded up, at least 1 and at most n, because nothing is known beyond a doubling: ask again then.
// Where the margin did not grow, or n < 4, it is at most n, too.
//
// Near-duplicates are pairs of samples whose hidden units have a cosine of at least kDuplicate:
// they count as two and teach as one. Measured with EfficientNet-Lite0 on Caltech-101: another photo
// of the same class exceeds 0.88 once in a thousand pairs; the same photo saved again, moved by a
// few pixels or mirrored has 0.94 to 0.99.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/left_out.h"
#include "kernels/gram_view.h"

namespace engram {

constexpr float kDuplicate = 0.94F;
constexpr int kFewSamples = 3;          // a class with fewer is too small to judge
constexpr int kTeachingSamples = 2048;  // limit of LeftOut for this purpose: a few seconds at most

struct ClassTeaching {
  std::int64_t samples = 0;  // of the class, whether judged or not
  int judged = 0;            // by leave-one-out; 0: it has one sample
  int right = 0;
  bool too_few = false;
  double accuracy() const { return judged > 0 ? double(right) / judged : 0.0; }
};

struct ConfusablePair {
  int shown = 0, taken_for = 0;  // classes
  int count = 0, judged = 0;     // so many of `shown` were taken for the other
  int more = 0;                  // samples of `shown` to add
};

struct DuplicatePair {
  int first = 0, second = 0;  // rows of the kernel, first < second
  float similarity = 0;       // cosine
};

struct TeachingReport {
  std::vector<ClassTeaching> classes;
  std::vector<ConfusablePair> confusable;  // most frequent first
  int judged = 0, right = 0;               // over all classes
};

// The same pair by the samples' numbers in the learner.
struct DuplicateSamples {
  std::int64_t first = 0, second = 0;
  int first_class = 0, second_class = 0;
  float similarity = 0;
};

// All that a learner can say (Learner::teaching). Where there are more samples than kTeachingSamples, as
// many of each class are selected evenly, and what is said is about a learner of these alone: a
// little worse than the real one. The dense form, which has no kernel matrix, makes that of the selected
// ones, n (L + M) + 4 n^2 bytes for the time being, and looks for near-duplicates among them; the
// factored form looks among all.
struct Teaching {
  TeachingReport report;
  std::vector<DuplicateSamples> duplicates;  // most similar first
  std::int64_t samples = 0;                  // learned in all
  int selected = 0;                          // so many of them were looked at
};

TeachingReport judge_teaching(const LeftOut& left_out, std::span<const std::int64_t> samples);

// The most similar pairs, most similar first, at most `limit`. A sample whose hidden units are all
// 0 resembles nothing.
std::vector<DuplicatePair> find_duplicates(const GramView& kernel, float threshold = kDuplicate,
                                           int limit = 100);

int samples_to_show(int n, double margin, double deviation, double half_margin);

}  // namespace engram
