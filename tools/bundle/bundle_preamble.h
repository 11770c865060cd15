// What `sudo sh site.egb` does where no engram is installed yet.
#pragma once

#include <string>

#include "tools/bundle/bundle_format.h"

namespace engram {

// A script that takes the package out of its own file, compares its SHA-256, unpacks it beside and lets the
// engram in it install the bundle; an engram that is installed already is asked instead. It installs nothing
// by itself. Only an engram that is trusted already can tell whether a signature is good: the first one
// comes from the same file, so the person compares the key's fingerprint (--key, --trust-new-key).
std::string bundle_preamble(const BundleHead& head);

}  // namespace engram
