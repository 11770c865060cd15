#include "tools/adapt/nearest_mean_trial.h"

#include <algorithm>

#include "engine/nearest_mean.h"
#include "tools/console/progress.h"

namespace engram {
namespace {

constexpr int kTrialBatch = 16;

}  // namespace

Result<RightAnswers> try_nearest_mean(FeatureExtractor& extractor, const TrainingPictures& pictures,
                                      const std::vector<int>& held_out, const char* what,
                                      const Console& console) {
  RightAnswers answers;
  if (held_out.empty()) return answers;
  const int width = extractor.features();
  std::vector<int> order;  // those that make the means first
  for (int sample = 0; sample < pictures.count(); ++sample) {
    if (!std::ranges::binary_search(held_out, sample)) order.push_back(sample);
  }
  const std::size_t learned = order.size();
  order.insert(order.end(), held_out.begin(), held_out.end());
  NearestMean means(width);
  std::vector<float> features(std::size_t{kTrialBatch} * std::size_t(width));
  Progress progress(console.shows_progress(), what, std::ssize(order), "img");
  for (std::size_t first = 0; first < order.size();) {
    const std::size_t end = first < learned ? learned : order.size();
    const std::size_t count = std::min<std::size_t>(kTrialBatch, end - first);
    std::vector<Image> batch;
    std::vector<std::string> labels;
    for (std::size_t i = first; i < first + count; ++i) {
      ENGRAM_ASSIGN(Image picture, pictures.picture(order[i]));
      batch.push_back(std::move(picture));
      const int label = pictures.labels()[std::size_t(order[i])];
      labels.push_back(pictures.classes()[std::size_t(label)]);
    }
    const MatrixView<float> rows{features.data(), int(count), width, width};
    ENGRAM_TRY(extractor.extract(batch, rows));
    if (first < learned) {
      ENGRAM_TRY(means.learn(rows, labels));
    } else {
      std::vector<Prediction> said(count);
      ENGRAM_TRY(means.classify(rows, said));
      for (std::size_t i = 0; i < count; ++i) {
        answers.right += means.classes()[std::size_t(said[i].class_index)].label == labels[i];
      }
      answers.count += int(count);
    }
    progress.advance(std::ssize(batch));
    first += count;
  }
  return answers;
}

}  // namespace engram
