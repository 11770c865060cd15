// The page's token, kept from start to start in HOME/page-token (mode 0600): who has the page's address
// once, on a phone or in a bookmark, need not fetch it again after each start. Removing the file ends
// that: the next start makes another.
#pragma once

#include <string>

#include "platform/file.h"
#include "platform/status.h"

namespace engram {

std::string page_token_file(const std::string& home);

// not_found: none is kept. bad_data: it is no token, or others may read it.
Result<std::string> read_page_token(const std::string& home);

struct PageToken {
  std::string token;
  std::string note;  // empty, or why it is for this start only, or why there is a new one
};
// The kept one, or a new one, kept from now on.
PageToken kept_page_token(const std::string& home, FileSystem& files = real_files());

// True: there was one.
Result<bool> forget_page_token(const std::string& home);

}  // namespace engram
