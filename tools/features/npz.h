// NumPy's .npz: several arrays in one ZIP archive, found by name.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "platform/file.h"
#include "platform/zip.h"
#include "tools/features/npy.h"

namespace engram {

// An array and the unpacked bytes it looks into.
struct NpzArray {
  std::unique_ptr<const std::vector<std::byte>> bytes;
  NpyView view;
};

class NpzFile {
 public:
  static Result<NpzFile> open(const std::string& path);

  bool has(const std::string& array) const { return find(array) != nullptr; }
  std::vector<std::string> names() const;  // without ".npy"
  // Unpacks one array. bad_data: no such array; the sentence lists those that are there.
  Result<NpzArray> read(const std::string& array) const;

 private:
  NpzFile(std::string path, MappedFile file, ZipReader zip)
      : path_(std::move(path)), file_(std::move(file)), zip_(std::move(zip)) {}
  const ZipReader::Member* find(const std::string& array) const {
    return zip_.find(array + ".npy");
  }

  std::string path_;
  MappedFile file_;  // zip_ borrows its bytes, which do not move with it
  ZipReader zip_;
};

}  // namespace engram
