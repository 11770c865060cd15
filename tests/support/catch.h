// Catch2, version 2 or 3: Debian 12 and JetPack 6 package version 2, Ubuntu 24.04 packages version
// 3, and we take what the distribution keeps up to date. Tests use only what both have.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;  // as version 2 has it
#else
#include <catch2/catch.hpp>
#endif
