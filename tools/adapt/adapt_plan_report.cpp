#include "tools/adapt/adapt_plan_report.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tools/console/progress.h"
#include "tools/console/table.h"
#include "tools/console/terminal.h"
#include "tools/console/units.h"
#include "tools/estimate_report.h"

namespace engram {

Result<AdaptOutlook> look_ahead(const VitModel& model, const AdaptSettings& settings, int classes,
                                int pictures, std::int64_t memory, const std::string& device) {
  ENGRAM_TRY(check_adapt_settings(settings, model.shape));
  AdaptOutlook outlook{
      .settings = settings, .memory = {}, .classes = std::max(classes, 2), .pictures = pictures};
  ENGRAM_ASSIGN(outlook.memory,
                plan_adaptation(VitFacts::of(model), settings, outlook.classes, memory));
  if (device.empty()) return outlook;
  const std::optional<DevicePeaks> peaks = published_peaks(device);
  if (!peaks) {
    return Status(Code::invalid_argument,
                  fmt::format("there is no device \"{}\" to estimate for; `engram plan --help` "
                              "names them.",
                              printable(device)));
  }
  outlook.device = peaks->name;
  ENGRAM_ASSIGN(outlook.estimate,
                estimate_adaptation(model, settings, outlook.classes, memory, *peaks));
  return outlook;
}

double AdaptOutlook::epoch_seconds() const {
  return estimate ? estimate->step_seconds() * pictures / settings.batch : 0;
}

std::string outlook_text(const AdaptOutlook& outlook, bool colour) {
  const AdaptSettings& settings = outlook.settings;
  Table buffers({{"buffer"}, {"shape"}, {"bytes", Align::right}});
  for (const PlannedBuffer& buffer : outlook.memory.buffers) {
    buffers.add({buffer.name, buffer.shape, bytes_text(buffer.bytes)});
  }
  std::string text = buffers.text(colour);
  text += fmt::format(
      "\n{} in all, pictures apart: {} at once of a batch of {}, {}.\n",
      bytes_text(outlook.memory.total()), plural(outlook.memory.micro_batch, "picture", "pictures"),
      settings.batch,
      outlook.memory.recomputed == 0
          ? std::string("every block keeps what its backward needs")
          : plural(outlook.memory.recomputed, "block is", "blocks are") + " computed again");
  if (!outlook.estimate) return text;
  Table operations({{"operation"}, {"calls", Align::right}, {"a step", Align::right}});
  for (const auto& operation : outlook.estimate->operations) {
    operations.add({operation.name, fmt::to_string(operation.calls), time_text(operation.seconds)});
  }
  text += "\n" + operations.text(colour);
  text += fmt::format(
      "\n{}, estimated, not measured: {} for a step of {} pictures, {} for an epoch of {}, {} for "
      "{}. Reading and cutting pictures comes on top.\n",
      outlook.device, time_text(outlook.estimate->step_seconds()), settings.batch,
      duration_text(outlook.epoch_seconds()), outlook.pictures,
      duration_text(settings.epochs * outlook.epoch_seconds()),
      plural(settings.epochs, "epoch", "epochs"));
  return text;
}

nlohmann::ordered_json outlook_json(const AdaptOutlook& outlook) {
  nlohmann::ordered_json answer{{"method", name(outlook.settings.method)},
                                {"classes", outlook.classes},
                                {"pictures", outlook.pictures},
                                {"bytes", outlook.memory.total()},
                                {"micro_batch", outlook.memory.micro_batch},
                                {"recomputed_blocks", outlook.memory.recomputed}};
  answer["buffers"] = nlohmann::ordered_json::array();
  for (const PlannedBuffer& buffer : outlook.memory.buffers) {
    answer["buffers"].push_back(
        {{"name", buffer.name}, {"shape", buffer.shape}, {"bytes", buffer.bytes}});
  }
  if (!outlook.estimate) return answer;
  auto& estimate = answer["estimate"];
  estimate = {{"device", outlook.device},
              {"measured", false},
              {"step_seconds", outlook.estimate->step_seconds()},
              {"epoch_seconds", outlook.epoch_seconds()}};
  for (const auto& operation : outlook.estimate->operations) {
    estimate["operations"].push_back({{"operation", operation.name},
                                      {"calls", operation.calls},
                                      {"seconds", operation.seconds}});
  }
  return answer;
}

}  // namespace engram
