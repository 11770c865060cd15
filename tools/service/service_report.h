// What `engram service` says.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "platform/status.h"
#include "tools/service/service_control.h"
#include "tools/service/service_files.h"

namespace engram {

// Of the settings, those that `service` itself needs to know.
struct ServiceSettings {
  std::string home, model, http, source;
};
// Defaults where there is no file. bad_data: it cannot be read.
Result<ServiceSettings> read_service_settings(const ServicePlaces& places);

// Where its page is; empty: it has none.
std::string page_of(const ServiceSettings& settings);
// Empty, or what whoever enables the service should know of these settings.
std::string settings_note(const ServicePlaces& places, const ServiceSettings& settings);

struct ServiceHealth {
  bool asked = false;  // there is a page to ask
  bool answers = false;
  std::string text;  // what /health says, or why it says nothing
};
ServiceHealth ask_health(const ServiceState& state, const ServiceSettings& settings);

std::string service_files_text(const ServicePlaces& places, const ServiceFiles& files);
nlohmann::ordered_json service_files_json(const ServicePlaces& places, const ServiceFiles& files);

std::string service_status_text(const ServicePlaces& places, const ServiceState& state,
                                const ServiceHealth& health, const std::vector<std::string>& lines);
nlohmann::ordered_json service_status_json(const ServicePlaces& places, const ServiceState& state,
                                           const ServiceHealth& health,
                                           const std::vector<std::string>& lines);

}  // namespace engram
