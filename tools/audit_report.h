// The audit trail of a state for people and programs.
#pragma once

#include <span>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "engine/audit.h"
#include "tools/console/console.h"

namespace engram {

// A row per entry, oldest first.
std::string audit_table(std::span<const AuditEntry> trail, bool colour);
// The same; ids of states as 16 hex digits, since a JSON number cannot hold them.
nlohmann::ordered_json audit_json(std::span<const AuditEntry> trail);

}  // namespace engram
