#include "tools/bundle/owner_turn.h"

#include <algorithm>
#include <cerrno>
#include <vector>

#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "platform/descriptor.h"
#include "platform/file.h"
#include "platform/sentence.h"

namespace engram {

namespace {

// The groups go first and come back last: changing them takes root. The real and the saved user stay
// root, so that there is a way back and the owner has no power over this process.
class OwnerTurn {
 public:
  static Result<std::vector<gid_t>> groups_of_ours() {
    std::vector<gid_t> groups(static_cast<std::size_t>(std::max(0, ::getgroups(0, nullptr))));
    if (::getgroups(static_cast<int>(groups.size()), groups.data()) < 0) {
      return Status(Code::internal, "cannot read the groups of this process");
    }
    return groups;
  }
  OwnerTurn(const struct stat& owner, std::vector<gid_t> ours)
      : ours_(std::move(ours)), group_(::getegid()) {
    taken_ = ::setgroups(1, &owner.st_gid) == 0 && ::setegid(owner.st_gid) == 0 &&
             ::seteuid(owner.st_uid) == 0;
  }
  // Going on with rights that nobody expects would be worse than to end here.
  ~OwnerTurn() {
    ENGRAM_CHECK(::seteuid(0) == 0 && ::setegid(group_) == 0 &&
                 ::setgroups(ours_.size(), ours_.data()) == 0);
  }
  OwnerTurn(const OwnerTurn&) = delete;
  OwnerTurn& operator=(const OwnerTurn&) = delete;
  bool taken() const { return taken_; }

 private:
  std::vector<gid_t> ours_;
  gid_t group_;
  bool taken_ = false;
};

}  // namespace

Status as_owner_of(const std::string& home, const std::string& file, const OwnersStep& step) {
  constexpr int kPlace = O_PATH | O_DIRECTORY | O_CLOEXEC;
  const Descriptor place(::geteuid() == 0 ? ::open(home.c_str(), kPlace) : -1);
  struct stat owner;
  if (place.get() < 0 || ::fstat(place.get(), &owner) != 0 || owner.st_uid == 0) {
    return step(file, home);
  }
  ENGRAM_ASSIGN(const int found, open_plain_file(file));
  const Descriptor opened(found);
  if (::fchown(opened.get(), 0, owner.st_gid) != 0 || ::fchmod(opened.get(), 0640) != 0) {
    return call_failed(file, "chown", errno, "");
  }
  ENGRAM_ASSIGN(std::vector<gid_t> ours, OwnerTurn::groups_of_ours());
  const std::string reached = fmt::format("/proc/self/fd/{}", place.get());
  Status done;
  {
    const OwnerTurn turn(owner, std::move(ours));
    if (!turn.taken()) return call_failed(home, "taking the rights of its owner", errno, "");
    done = step(fmt::format("/proc/self/fd/{}", opened.get()), reached);
  }
  if (done.ok()) return done;
  std::string what = done.what();
  for (std::size_t at = 0; (at = what.find(reached + "/", at)) != what.npos; at += home.size()) {
    what.replace(at, reached.size(), home);
  }
  return Status(done.code(),
                fmt::format("{} This was done with the rights of user {}, who owns {}: what lies "
                            "there must be theirs, and a link there lead to what is theirs",
                            sentence(what), owner.st_uid, home));
}

}  // namespace engram
