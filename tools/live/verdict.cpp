#include "tools/live/verdict.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tools/console/terminal.h"

namespace engram {

Verdict verdict(const Sight& sight) {
  if (sight.answers.empty()) return {};
  const Answer& best = sight.answers.front();
  const Verdict::Kind kind = best.unknown                ? Verdict::Kind::unknown
                             : !sight.says_unknown       ? Verdict::Kind::guess
                             : best.label == kBackground ? Verdict::Kind::background
                                                         : Verdict::Kind::known;
  return {kind, best.label, best.probability, best.known.has_value()};
}

std::string verdict_text(const Verdict& verdict) {
  const std::string label = printable(verdict.label);
  switch (verdict.kind) {
    case Verdict::Kind::none:
      break;
    case Verdict::Kind::unknown:
      return verdict.counts_unknown
                 ? fmt::format("unknown (closest: {} {:.0f} %)", label, 100 * verdict.probability)
                 : fmt::format("unknown (closest: {})", label);
    case Verdict::Kind::background:
      return "nothing";
    case Verdict::Kind::guess:  // a percentage of one class among itself says nothing
      return (verdict.label == kBackground ? "nothing" : label) + "?";
    case Verdict::Kind::known:
      return fmt::format("{}  {:.0f} %", label, 100 * verdict.probability);
  }
  return "";
}

nlohmann::ordered_json verdict_json(const Sight& sight) {
  const Verdict said = verdict(sight);
  nlohmann::ordered_json top = nlohmann::ordered_json::array();
  for (const Answer& answer : sight.answers) top.push_back({answer.label, answer.probability});
  return {{"frame", sight.frame.number},
          {"label", said.label},
          {"probability", said.probability},
          {"unknown", said.kind == Verdict::Kind::unknown},
          {"says_unknown", sight.says_unknown},
          {"known", known_json(sight)},
          {"top", top},
          {"revision", sight.revision},
          {"backbone_ms", sight.backbone_ms},
          {"head_ms", sight.head_ms}};
}

nlohmann::ordered_json known_json(const Sight& sight) {
  if (sight.answers.empty()) return 0;
  const std::optional<float> known = sight.answers.front().known;
  return known ? nlohmann::ordered_json(*known) : nlohmann::ordered_json();
}

std::vector<LiveClass> numbered_classes(const LiveState& state) {
  std::vector<LiveClass> classes;
  for (const LiveClass& taught : state.classes) {
    if (taught.label != kBackground) classes.push_back(taught);
  }
  return classes;
}

}  // namespace engram
