// Why there is no GPU, in words that say what to do.
#include "platform/device.h"

#include "platform/device_trial_simt.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"

namespace engram {

using test::says;

TEST_CASE("device: each absence has its sentence", "[platform][device]") {
  REQUIRE(device_absence(13000, 13000, 1, nullptr).ok());
  REQUIRE(device_absence(12060, 12080, 1, nullptr).ok());  // a minor version is no matter
  REQUIRE(device_absence(13010, 12060, 1, nullptr).ok());

  const Status none = device_absence(0, 13000, 0, "insufficient driver");
  REQUIRE(none.code() == Code::not_supported);
  REQUIRE(says(none, "no NVIDIA driver"));
  const Status old = device_absence(12020, 13000, 0, "insufficient driver");
  REQUIRE(old.code() == Code::not_supported);
  REQUIRE(says(old, "12.2"));
  REQUIRE(says(old, "13.0"));
  REQUIRE(says(old, "JetPack"));
  const Status empty = device_absence(13000, 13000, 0, nullptr);
  REQUIRE(empty.code() == Code::not_supported);
  REQUIRE(says(empty, "no GPU"));
  const Status silent = device_absence(13000, 13000, 1, "initialization error");
  REQUIRE(silent.code() == Code::device_failure);
  REQUIRE(says(silent, "initialization error"));
  for (const Status& status : {none, old, empty, silent}) REQUIRE(says(status, "--backend cpu"));
}

TEST_CASE("device: what is older than the kernels is refused", "[platform][device]") {
  REQUIRE(device_too_old("Orin", 8, 7).ok());
  REQUIRE(device_too_old("RTX 3060", 8, 6).ok());
  REQUIRE(device_too_old("Thor", 11, 0).ok());
  for (const int minor : {0, 5}) {
    const Status status = device_too_old("Xavier", 8, minor);
    REQUIRE(status.code() == Code::not_supported);
    REQUIRE(says(status, "Xavier"));
  }
  REQUIRE_FALSE(device_too_old("Xavier", 7, 9).ok());
}

TEST_CASE("device: the emulated one is found, unless a test says otherwise", "[platform][device]") {
  REQUIRE(simt::find_device().ok());
  {
    const simt::OnTrial on({.driver = 0});
    REQUIRE(says(simt::find_device().status(), "no NVIDIA driver"));
  }
  {
    const simt::OnTrial on({.driver = 12020});
    REQUIRE(says(simt::find_device().status(), "too old"));
  }
  {
    const simt::OnTrial on({.devices = 0});
    REQUIRE(says(simt::find_device().status(), "no GPU"));
  }
  REQUIRE(simt::find_device().ok());
}

}  // namespace engram
