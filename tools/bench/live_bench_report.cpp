#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tools/bench/live_bench.h"
#include "tools/console/terminal.h"

namespace engram {
namespace {

constexpr double kMostKnown = 2000, kLeastFrames = 15, kMostRatio = 1.2;

nlohmann::ordered_json spread_json(const Spread& spread) {
  return {{"median_ms", spread.middle},
          {"p99_ms", spread.p99},
          {"max_ms", spread.most},
          {"count", spread.count}};
}

std::string spread_line(const char* what, const Spread& spread) {
  return fmt::format("{:<34} {:>8.1f} ms median {:>8.1f} ms p99 {:>8.1f} ms at most  ({})\n", what,
                     spread.middle, spread.p99, spread.most, spread.count);
}

// What was taken for another: shown, answer, how often.
std::vector<std::tuple<std::string, std::string, int>> mixed_up(const Confusion& confusion) {
  std::vector<std::tuple<std::string, std::string, int>> mixes;
  for (std::size_t shown = 0; shown < confusion.names.size(); ++shown) {
    for (std::size_t answer = 0; answer < confusion.names.size(); ++answer) {
      const int count = confusion.counts[shown][answer];
      if (shown == answer || count == 0) continue;
      mixes.emplace_back(confusion.names[shown], confusion.names[answer], count);
    }
  }
  return mixes;
}

}  // namespace

std::vector<LiveBenchMark> live_marks(const LiveBenchResult& result) {
  return {{"tap to known, the slowest", fmt::format("{:.0f} ms", result.known.most),
           fmt::format("at most {:.0f} ms", kMostKnown), result.known.most <= kMostKnown},
          {"frames per second", fmt::format("{:.1f}", result.frames_per_second),
           fmt::format("at least {:.0f}", kLeastFrames), result.frames_per_second >= kLeastFrames},
          {"p99 while learning, of idle", fmt::format("{:.2f}", result.ratio(result.learning)),
           fmt::format("at most {:.1f}", kMostRatio), result.ratio(result.learning) <= kMostRatio}};
}

std::string live_bench_text(const LiveBenchResult& result) {
  std::string text = "\n" + spread_line("tap to durable", result.durable) +
                     spread_line("tap to known", result.known) +
                     spread_line("frame to label", result.label) +
                     spread_line("backbone and head, idle", result.idle) +
                     spread_line("... every frame taught", result.learning) +
                     spread_line("... taught as fast as it goes", result.hurried);
  text += fmt::format(
      "{:.1f} frames per second idle; {:.0f} taps per second when every frame is taught, {:.0f} as "
      "fast "
      "as it goes (p99 {:.2f} of idle)\n",
      result.frames_per_second, result.learned_per_second, result.hurried_per_second,
      result.ratio(result.hurried));
  for (const auto& [shown, answer, count] : mixed_up(result.confusion)) {
    text += fmt::format("{} new views of {} were taken for {}\n", count, printable(shown),
                        printable(answer));
  }
  text += "\n";
  for (const LiveBenchMark& mark : live_marks(result)) {
    text += fmt::format("{:<34} {:>10}  {:<16} {}\n", mark.what, mark.reached, mark.wanted,
                        mark.passed ? "ok" : "missed");
  }
  return text;
}

nlohmann::ordered_json live_bench_json(const LiveBenchResult& result) {
  nlohmann::ordered_json rounds = nlohmann::ordered_json::array();
  for (const LiveBenchRound& round : result.rounds) {
    rounds.push_back({{"object", round.object}, {"right", round.right}, {"asked", round.asked}});
  }
  nlohmann::ordered_json mixes = nlohmann::ordered_json::array();
  for (const auto& [shown, answer, count] : mixed_up(result.confusion)) {
    mixes.push_back({{"shown", shown}, {"taken_for", answer}, {"count", count}});
  }
  nlohmann::ordered_json marks = nlohmann::ordered_json::array();
  for (const LiveBenchMark& mark : live_marks(result)) {
    marks.push_back({{"what", mark.what},
                     {"reached", mark.reached},
                     {"wanted", mark.wanted},
                     {"passed", mark.passed}});
  }
  return {{"tap_to_durable", spread_json(result.durable)},
          {"tap_to_known", spread_json(result.known)},
          {"frame_to_label", spread_json(result.label)},
          {"idle", spread_json(result.idle)},
          {"learning", spread_json(result.learning)},
          {"hurried", spread_json(result.hurried)},
          {"p99_ratio", result.ratio(result.learning)},
          {"p99_ratio_hurried", result.ratio(result.hurried)},
          {"frames_per_second", result.frames_per_second},
          {"taps_per_second", result.learned_per_second},
          {"taps_per_second_hurried", result.hurried_per_second},
          {"rounds", rounds},
          {"mixed_up", mixes},
          {"confusion", result.confusion.counts},
          {"marks", marks}};
}

}  // namespace engram
