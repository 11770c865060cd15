// A folder for results, asked for before the work: whether they can be kept is told then, and not
// after hours.
#pragma once

#include <string>
#include <utility>

#include "platform/status.h"

namespace engram {

class OutputFolder {
 public:
  // Makes the folder if it is absent, and in it a file, which is written to and removed. io_failure:
  // results could not be kept there.
  static Result<OutputFolder> make(const std::string& path);
  OutputFolder(OutputFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  OutputFolder& operator=(OutputFolder&&) = delete;
  ~OutputFolder();  // a folder that it made goes again if nothing was put into it

 private:
  explicit OutputFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;  // empty: was there before
};

}  // namespace engram
