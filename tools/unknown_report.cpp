#include "tools/unknown_report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tools/console/units.h"

namespace engram {

bool says_unknown(const Readout* readout) {
  return readout != nullptr && readout->confidence.fitted && readout->confidence.known.known > 0;
}

std::string unknown_sentence(const Readout* readout) {
  if (readout == nullptr) return "never said: no task has ended yet";
  const Confidence& confidence = readout->confidence;
  const KnownModel& known = confidence.known;
  if (!says_unknown(readout)) {
    return "never said: too few samples of classes with two or more; show more of each";
  }
  const std::string from = plural(known.known, "known example", "known examples");
  if (!known.informative) {
    return fmt::format(
        "said by the scores of {} alone: there is too little to learn from what unknown things "
        "look like",
        from);
  }
  return fmt::format("told from {} and {} unknown, by {}; AUROC {:.2f} among them", from,
                     count_text(known.unknown),
                     known.uses_leverage ? "score and leverage" : "score", known.area);
}

nlohmann::ordered_json unknown_json(const Readout* readout) {
  const Confidence confidence = readout == nullptr ? Confidence{} : readout->confidence;
  const KnownModel& known = confidence.known;
  return {{"said", says_unknown(readout)},
          {"known_examples", known.known},
          {"unknown_examples", known.unknown},
          {"uses_leverage", known.uses_leverage},
          {"auroc", known.area},
          {"note", unknown_sentence(readout)}};
}

}  // namespace engram
