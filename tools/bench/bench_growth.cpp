// What learning costs as it grows: one class a task, task after task, through the move from kept
// samples to sums (engine/form.h). Two promises can be read off: up to the move cost follows what was
// learned, and after it neither time nor memory knows how many tasks there were.
//
//     bench_growth [--hidden=2000] [--samples=40] [--classes=100] [--threads=1] > growth.svg
//
// --samples of each class, --classes of them, which are the tasks. The table goes to stderr, a plot of
// it to stdout. Memory is what the process grew by.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <unistd.h>

#include "engine/calibrate.h"
#include "engine/learner.h"
#include "tools/bench/bench_clock.h"
#include "tools/bench/bench_settings.h"

namespace engram::bench {
namespace {

constexpr int kFeaturesOfSample = 768;

struct Point {
  std::int64_t samples;
  bool dense;
  double learn_ms, end_ms, classify_ms, megabytes;
};

double resident_megabytes() {
  std::ifstream statm("/proc/self/statm");
  double all = 0, resident = 0;
  statm >> all >> resident;
  return resident * double(sysconf(_SC_PAGESIZE)) / 1e6;
}

// Photographs of one thing: a place of its own, and a spread around it.
class Things {
 public:
  std::vector<float> of(int thing, int count) {
    std::mt19937 place(unsigned(thing) + 1);
    std::normal_distribution<float> normal;
    std::vector<float> centre(kFeaturesOfSample), all;
    for (float& value : centre) value = normal(place);
    for (int i = 0; i < count; ++i) {
      for (const float value : centre) all.push_back(value + 1.5f * normal(random_));
    }
    return all;
  }

 private:
  std::mt19937 random_{1};
};

double milliseconds(const std::function<void()>& work) {
  return 1e3 * best_seconds(1, 1, work);
}

std::vector<Point> grow(const Settings& settings) {
  Things things;
  LearnerConfig config;
  config.features = kFeaturesOfSample;
  config.hidden = settings.hidden;
  const std::vector<float> sight = things.of(0, 200);
  const Calibration scales =
      must(calibrate({sight.data(), 200, kFeaturesOfSample, kFeaturesOfSample}));
  config.feature_scale = scales.feature_scale;
  config.hidden_mul = scales.hidden_mul;
  Learner learner = must(Learner::create(config));
  const double before = resident_megabytes();
  std::vector<Point> points;
  for (int task = 0; task < settings.classes; ++task) {
    const std::vector<float> features = things.of(task, settings.samples);
    const MatrixView<const float> rows{features.data(), settings.samples, kFeaturesOfSample,
                                       kFeaturesOfSample};
    const std::vector<std::string> labels(std::size_t(settings.samples), std::to_string(task));
    Point point{};
    point.learn_ms = milliseconds([&] { must(learner.learn(rows, labels)); }) / settings.samples;
    point.end_ms = milliseconds([&] { must(learner.end_task()); });
    Prediction prediction;
    point.classify_ms = 1e3 * best_seconds(3, 5, [&] {
                          must(learner.classify(rows.row_range(0, 1), {&prediction, 1}));
                        });
    point.samples = learner.samples();
    point.dense = learner.form() == Form::dense;
    point.megabytes = resident_megabytes() - before;
    points.push_back(point);
    std::fprintf(stderr, "%5d %7lld %-9s %9.3f %9.1f %9.3f %9.1f\n", task + 1,
                 static_cast<long long>(point.samples), point.dense ? "sums" : "samples",
                 point.learn_ms, point.end_ms, point.classify_ms, point.megabytes);
  }
  return points;
}

// One panel of the plot: a quantity against the number of samples, from 0 up.
void draw(const std::vector<Point>& points, double top, const char* title,
          double (*value)(const Point&)) {
  constexpr double kLeft = 70, kWidth = 600, kHeight = 130;
  double largest = 1e-9;
  for (const Point& point : points) largest = std::max(largest, value(point));
  const double last = double(points.back().samples), bottom = top + kHeight;
  const auto x = [&](double samples) { return kLeft + kWidth * samples / last; };
  std::printf("<text x='%g' y='%g' font-weight='bold'>%s</text>\n", kLeft, top - 8, title);
  std::printf("<path d='M%g %gV%gH%g' fill='none' stroke='#888'/>\n", kLeft, top, bottom,
              kLeft + kWidth);
  std::printf("<text x='%g' y='%g' text-anchor='end'>%.3g</text>\n", kLeft - 6, top + 10, largest);
  std::printf("<text x='%g' y='%g' text-anchor='end'>0</text>\n", kLeft - 6, bottom);
  std::printf("<text x='%g' y='%g' text-anchor='end'>%g samples</text>\n", kLeft + kWidth,
              bottom + 16, last);
  for (const Point& point : points) {
    if (!point.dense) continue;
    std::printf("<path d='M%g %gV%g' stroke='#c60' stroke-dasharray='4'/>\n",
                x(double(point.samples)), top, bottom);
    std::printf("<text x='%g' y='%g' fill='#c60'>sums from here on</text>\n",
                x(double(point.samples)) + 5, top + 12);
    break;
  }
  std::printf("<polyline fill='none' stroke='#06c' stroke-width='1.5' points='");
  for (const Point& point : points) {
    std::printf("%g,%g ", x(double(point.samples)), bottom - kHeight * value(point) / largest);
  }
  std::printf("'/>\n");
}

void plot(const std::vector<Point>& points, const Settings& settings) {
  std::printf(
      "<svg xmlns='http://www.w3.org/2000/svg' width='700' height='800' "
      "font-family='sans-serif' font-size='12'>\n<rect width='700' height='800' "
      "fill='white'/>\n<text x='70' y='24' font-size='15'>%d tasks of one class, %d samples "
      "each, M %d, %d threads</text>\n",
      settings.classes, settings.samples, settings.hidden, thread_count());
  draw(points, 60, "learning one sample, ms", [](const Point& p) { return p.learn_ms; });
  draw(points, 250, "end of a task, ms", [](const Point& p) { return p.end_ms; });
  draw(points, 440, "classifying one frame, ms", [](const Point& p) { return p.classify_ms; });
  draw(points, 630, "memory, MB", [](const Point& p) { return p.megabytes; });
  std::printf("</svg>\n");
}

}  // namespace
}  // namespace engram::bench

int main(int argc, char* argv[]) {
  using namespace engram::bench;
  Settings settings;
  settings.hidden = 2000;
  settings.samples = 40;
  if (!read_settings("bench_growth", argc, argv, settings)) return 64;
  std::fprintf(stderr, "%5s %7s %-9s %9s %9s %9s %9s\n", "task", "N", "keeps", "learn ms", "end ms",
               "frame ms", "MB");
  plot(grow(settings), settings);
  return 0;
}
