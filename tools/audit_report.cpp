#include "tools/audit_report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tools/console/table.h"
#include "tools/console/terminal.h"
#include "tools/console/units.h"

namespace engram {

std::string audit_table(std::span<const AuditEntry> trail, bool colour) {
  Table table({{"state"},
               {"event", Align::right},
               {"device"},
               {"what"},
               {"samples", Align::right},
               {"classes", Align::right},
               {"digest"}});
  for (const AuditEntry& entry : trail) {
    table.add({fmt::format("{:016x}", entry.state), count_text(entry.sequence),
               printable(entry.device), printable(entry.what), count_text(entry.samples),
               count_text(entry.classes), printable(entry.digest.substr(0, 14))});
  }
  return table.text(colour);
}

nlohmann::ordered_json audit_json(std::span<const AuditEntry> trail) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const AuditEntry& entry : trail) {
    list.push_back({{"device", entry.device},
                    {"state", fmt::format("{:016x}", entry.state)},
                    {"sequence", entry.sequence},
                    {"what", entry.what},
                    {"samples", entry.samples},
                    {"classes", entry.classes},
                    {"digest", entry.digest}});
  }
  return list;
}

}  // namespace engram
