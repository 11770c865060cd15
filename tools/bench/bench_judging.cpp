// What "unknown" and probabilities cost: of a frame beside classifying it, and at the end of a task
// beside solving, in both forms.
//
//     bench_judging [--hidden=10000] [--samples=2000] [--classes=100] [--threads=N] [--turns=3] [--marks]
//
// Made-up features, L 768. With --marks each line ends with pass or MISS, and the exit code says
// whether all passed. The dense form takes 4 M^2 bytes.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "engine/learner.h"
#include "engine/leverage.h"
#include "engine/readout_confidence.h"
#include "engine/witnesses.h"
#include "kernels/kernels.h"
#include "tools/bench/bench_clock.h"
#include "tools/bench/bench_photos.h"
#include "tools/bench/bench_problem.h"
#include "tools/bench/bench_settings.h"

namespace engram::bench {
namespace {

int missed = 0;

void line(const Settings& settings, const char* what, double seconds, double ratio, double most) {
  const bool pass = ratio <= most;
  missed += pass ? 0 : 1;
  std::printf("%-66s %10.3f ms %8.2f", what, 1e3 * seconds, ratio);
  if (settings.marks) std::printf("  <= %-4g %s", most, pass ? "pass" : "MISS");
  std::printf("\n");
  std::fflush(stdout);
}

void measure_frame(const Settings& settings, const Photos& photos) {
  Learner learner = must(Learner::create(config_of(settings, true)));
  must(learner.learn(photos.x.read(), photos.labels));
  must(learner.end_task().status());
  Readout plain = *learner.readout(), judging = plain;
  plain.probes = nullptr;
  LeverageProbes probes;
  Random random;
  probes.scales.assign(kLeverageProbes, 1e-6F);
  for (int i = 0; i < kLeverageProbes * settings.hidden; ++i) {
    probes.values.push_back(std::int16_t(random.between(-32767, 32767)));
  }
  judging.probes = std::make_shared<const LeverageProbes>(std::move(probes));
  std::vector<float> scores(std::size_t(settings.classes));
  const MatrixView<float> row{scores.data(), 1, settings.classes, settings.classes};
  float leverage = 0;
  double score = 1e9, with = 1e9, judged = 1e9;
  const MatrixView<const float> frame = photos.x.read().row_range(0, 1);
  for (int turn = 0; turn < 5 * settings.turns;
       ++turn) {  // in turns: a busy machine disturbs all alike
    score = std::min(score, best_seconds(1, 20, [&] { must(learner.score(frame, plain, row)); }));
    with = std::min(with, best_seconds(1, 20, [&] {
                      must(learner.score(frame, judging, row, {&leverage, 1}));
                    }));
    judged = std::min(judged,
                      best_seconds(1, 20, [&] { (void)judge(judging, scores, leverage, 0.05); }));
  }
  line(settings, "frame: features to scores", score, 1.0, 1.0);
  line(settings, "frame: leverage beside it (times that)", with - score, (with - score) / score,
       1.0);
  line(settings, "frame: probability and unknown from them (times that)", judged, judged / score,
       0.1);
}

void measure_end_of_task(const Settings& settings, const Photos& photos, bool keep) {
  const LearnerConfig config = config_of(settings, keep);
  Arena arena =
      must(Arena::create(std::size_t(plan(config, settings.classes).learner_arena_bytes()) +
                         ProjectionScratch::bytes(config, 256)));
  const Projection projection(config, kCpuKernels, arena);
  const ProjectionScratch scratch = ProjectionScratch::take(config, 256, arena);
  Statistics statistics(config, kCpuKernels, arena);
  must(statistics.prepare(photos.labels));
  Witnesses witnesses(config);
  must(witnesses.reserve());
  std::vector<std::byte> rows(photos.labels.size() * projection.row_bytes());
  must(projection.encode(photos.x.read(), rows.data()));
  for (int first = 0; first < settings.samples; first += 256) {
    const int count = std::min(256, settings.samples - first);
    const std::span classes =
        std::span(photos.classes).subspan(std::size_t(first), std::size_t(count));
    const std::byte* part = rows.data() + std::size_t(first) * projection.row_bytes();
    const MatrixView<float> h = scratch.h.row_range(0, count);
    must(projection.from_rows(part, scratch, h));
    must(statistics.add(part, h, classes));
    witnesses.add(part, classes);
  }
  double solve = 1e9, judging = 1e9, probes = 1e9;
  for (int turn = 0; turn < settings.turns; ++turn) {
    Readout readout;
    solve = std::min(solve, best_seconds(1, 1, [&] {
                       std::string note;
                       readout = must(solve_readout(statistics, config.lambda, note));
                     }));
    probes = std::min(probes, best_seconds(1, 1, [&] {
                        must(draw_probes(statistics, readout.lambda).status());
                      }));
    judging = std::min(judging, best_seconds(1, 1, [&] {
                         std::vector<ScoreSummary> heard;
                         if (!keep)
                           heard =
                               must(witnesses.hear(statistics, readout, {}, projection, scratch));
                         fit_readout_confidence(statistics, {}, heard, nullptr, {}, readout);
                       }));
  }
  const std::string form = keep ? "factored" : "dense";
  line(settings, (form + ": solve, without the choice of lambda").c_str(), solve, 1.0, 1.0);
  line(settings, (form + ": what the readout judges by (times that)").c_str(), judging,
       judging / solve, keep ? 1.0 : 0.2);
  line(settings, (form + ": probes of leverage, where they are used (times that)").c_str(), probes,
       probes / solve, keep ? 1.5 : 0.2);
}

}  // namespace
}  // namespace engram::bench

int main(int argc, char* argv[]) {
  engram::bench::Settings settings;
  settings.turns = 3;
  if (!engram::bench::read_settings("bench_judging", argc, argv, settings)) return 64;
  std::printf("M %d, N %d, K %d, %d threads, the best of %d turns\n", settings.hidden,
              settings.samples, settings.classes, engram::thread_count(), settings.turns);
  const engram::bench::Photos photos(settings);
  engram::bench::measure_frame(settings, photos);
  engram::bench::measure_end_of_task(settings, photos, true);
  engram::bench::measure_end_of_task(settings, photos, false);
  return engram::bench::finish(settings, engram::bench::missed);
}
