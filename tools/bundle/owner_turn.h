// Root writes into a folder that somebody else owns, as that somebody.
//
// Who owns a folder can put a link to /etc into it at any moment: root must neither write nor chown
// there. With the rights of the owner, such a link leads nowhere that the owner could not go alone.
#pragma once

#include <functional>
#include <string>

#include "platform/status.h"

namespace engram {

// Takes a step with the rights of who owns `home`, if we are root and `home` is there and not root's;
// else with our own. All threads of the process have those rights during the step; only root can
// signal or trace it all the same. A failure that comes of missing rights says whose they were.
//
// The step gets a path by which it can read `file`, a file of ours in a folder that only we can look
// into; its group becomes the owner's, who could read the copy anyway. And it gets a path by which it
// reaches `home`: systemd keeps what belongs to a service below a folder that only root can pass.
using OwnersStep = std::function<Status(const std::string& readable, const std::string& home)>;
Status as_owner_of(const std::string& home, const std::string& file, const OwnersStep& step);

}  // namespace engram
