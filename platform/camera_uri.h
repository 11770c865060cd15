// A camera's address: scheme://path?key=value&key=value, with %20 and the like in values.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "platform/status.h"

namespace engram {

struct CameraUri {
  std::string scheme;  // "stage"
  std::string path;    // what stands between :// and ?
  std::map<std::string, std::string> parameters;

  // Takes a parameter out, or gives `otherwise` when there is none. What is left in `parameters`
  // when all known ones are taken is unknown, and refused by the source.
  Result<std::int64_t> take_number(const std::string& key, std::int64_t otherwise, std::int64_t low,
                                   std::int64_t high);
  std::string take_text(const std::string& key, const std::string& otherwise);
  std::string take_path();
  // ok when path and parameters were all taken; else names one that was not, and what is `understood`.
  Status nothing_else(const char* understood) const;
};

Result<CameraUri> parse_camera_uri(const std::string& uri);

// An address as messages show it: without the name and password in rtsp://name:password@host.
std::string without_password(const std::string& uri);
// The same for one that cannot be read, where nobody knows what the parts are: of what stands before the
// last @, behind a colon, only the scheme is shown.
std::string mistyped_address(const std::string& uri);
// The known scheme that `scheme` is one slip away from, or an empty text.
std::string nearest_scheme(const std::string& scheme);

}  // namespace engram
