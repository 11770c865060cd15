// A bundle on disk: read by offset, never mapped (a memory stick may be pulled), and written.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "platform/descriptor.h"
#include "tools/bundle/bundle_format.h"

namespace engram {

class BundleFile {
 public:
  // Head and signature are checked, the members are not yet. not_found, bad_data, not_supported.
  static Result<BundleFile> open(const std::string& path);

  const BundleHead& head() const { return head_; }
  const std::string& path() const { return path_; }
  Status check(const BundleEntry& entry) const;  // every byte, against its digest
  // A copy in a new file, durable; checked on the way. After a failure there is none.
  Status take_out(const BundleEntry& entry, const std::string& to) const;

 private:
  BundleFile(std::string path, int file) : path_(std::move(path)), file_(file) {}
  Status broken(const BundleEntry& entry) const;
  std::string path_;
  Descriptor file_;
  BundleHead head_;
};

struct BundleSource {
  BundleMember member;
  std::string path;
};
// Makes a bundle: the same files and key give the same bytes. Sources in the order of the members. What
// was at `to` is replaced whole, or kept.
Result<BundleHead> write_bundle(const std::vector<BundleSource>& sources, BundleTarget target,
                                const Secret& secret, const std::string& to);

}  // namespace engram
