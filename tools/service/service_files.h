// The files that make the camera app a service, and where they are.
//
// The unit comes with a package, or is written here; then it begins with a line that holds its digest,
// so that one which somebody edited is told apart and left alone. Settings are written only where
// there are none.
#pragma once

#include <string>

#include "platform/status.h"

namespace engram {

inline constexpr const char* kServiceUnit = "engram.service";

struct ServicePlaces {
  std::string root;     // before every path: an image that is being made; empty: this machine
  std::string program;  // that the unit starts, an absolute path

  std::string config() const { return root + "/etc/engram/camera.conf"; }
  std::string unit() const { return root + "/etc/systemd/system/" + kServiceUnit; }
  std::string state() const { return root + "/var/lib/engram"; }
  std::string packaged_unit() const;  // of a package; empty: there is none
};

enum class FileFate { kept, written, edited };  // edited: it is another's, and was kept

struct ServiceFiles {
  FileFate unit = FileFate::kept;
  FileFate config = FileFate::kept;
  std::string unit_path;  // of the unit that counts
};

// io_failure: a file cannot be written; the others may have been.
Result<ServiceFiles> install_service_files(const ServicePlaces& places);
// Removes the unit if we wrote it; settings and state stay. True: it was removed.
Result<bool> remove_service_unit(const ServicePlaces& places);

}  // namespace engram
