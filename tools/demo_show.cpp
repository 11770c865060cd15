#include "tools/demo_show.h"

#include <utility>

#include "platform/steady_time.h"

namespace engram {
namespace {

constexpr int kSheetWidth = 160, kSheetHeight = 120;
constexpr std::uint64_t kFirstNewView = 1'000'000;  // learned frames are counted from 0

Result<std::vector<Image>> views_of(const Stage& stage, int object, std::uint64_t first,
                                    int count) {
  std::vector<Image> pictures;
  for (int i = 0; i < count; ++i) {
    ENGRAM_ASSIGN(Image picture, stage.view(object, first + i));
    pictures.push_back(std::move(picture));
  }
  return pictures;
}

// New views of the objects so far. The backbone is frozen, so their features are computed once.
struct Exam {
  std::vector<float> features;      // (labels.size(), L)
  std::vector<std::string> labels;  // what each view shows
  std::vector<Prediction> answers;  // of the last round
};

Status add_questions(Exam& exam, Recogniser& recogniser, std::span<const Image> pictures,
                     const std::string& label) {
  const int width = recogniser.extractor().features();
  const std::size_t old = exam.features.size();
  exam.features.resize(old + pictures.size() * width);
  exam.labels.insert(exam.labels.end(), pictures.size(), label);
  return recogniser.extractor().extract(
      pictures, {exam.features.data() + old, static_cast<int>(pictures.size()), width, width});
}

Status ask_all(Exam& exam, Recogniser& recogniser) {
  const int width = recogniser.extractor().features();
  exam.answers.resize(exam.labels.size());
  return recogniser.store()->learner().classify(
      {exam.features.data(), static_cast<int>(exam.labels.size()), width, width}, exam.answers);
}

bool is_right(const Exam& exam, const std::vector<ClassInfo>& classes, std::size_t view) {
  const int answer = exam.answers[view].class_index;
  return answer >= 0 && classes[answer].label == exam.labels[view];
}

}  // namespace

Result<DemoResult> run_demo_show(Recogniser& recogniser, const Stage& stage, const DemoShow& show,
                                 const DemoWatcher& watcher) {
  DemoResult result;
  Exam exam;
  for (int object = 0; object < stage.objects(); ++object) {
    const std::string& label = stage.name(object);
    ENGRAM_TRY(watcher.on_object(label));
    ENGRAM_ASSIGN(const std::vector<Image> frames, views_of(stage, object, 0, show.frames));
    DemoRound round{.object = label};
    const double start = seconds_now();
    const std::vector<std::string> labels(frames.size(), label);
    ENGRAM_TRY(recogniser.learn(frames, labels));
    ENGRAM_ASSIGN(const ReadoutReport readout, recogniser.end_task());
    round.learn_seconds = seconds_now() - start;

    ENGRAM_ASSIGN(const std::vector<Image> views,
                  views_of(stage, object, kFirstNewView, show.views));
    ENGRAM_TRY(add_questions(exam, recogniser, views, label));
    ENGRAM_TRY(ask_all(exam, recogniser));
    const std::vector<ClassInfo> classes = recogniser.store()->learner().classes();
    for (std::size_t view = 0; view < exam.labels.size(); ++view) {
      const bool right = is_right(exam, classes, view);
      round.right += right;
      round.first_right += right && view < views.size();
    }
    round.asked = static_cast<int>(exam.labels.size());
    result.cells.push_back({shrink(frames.front(), kSheetWidth, kSheetHeight), kWhite});
    result.cells.push_back({shrink(views.front(), kSheetWidth, kSheetHeight), kWhite});
    watcher.on_round(round);
    result.rounds.push_back(std::move(round));
  }
  const std::vector<ClassInfo> classes = recogniser.store()->learner().classes();
  for (int object = 0; object < stage.objects(); ++object) {
    const bool right = is_right(exam, classes, std::size_t(object) * show.views);
    result.cells[2 * object + 1].frame = right ? kGreen : kRed;
  }
  return result;
}

}  // namespace engram
