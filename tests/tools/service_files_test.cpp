// The service's files: written once, never over what somebody edited.
#include "tools/service/service_files.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/catch.h"
#include "tests/support/says.h"
#include "tests/support/temp_directory.h"
#include "tools/service/service_texts.h"

namespace engram {
namespace {

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

void write(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << text;
}

}  // namespace

TEST_CASE("service_files: the unit starts this program", "[tools][service]") {
  const std::string unit = service_unit_text("/opt/engram/bin/engram");
  REQUIRE(test::says(unit,
                     "\nExecStart=/opt/engram/bin/engram camera --headless --config "
                     "/etc/engram/camera.conf\n"));
  REQUIRE(test::says(unit, "\nType=notify\n"));
  REQUIRE_FALSE(test::says(unit, "ENGRAM_PROGRAM"));
}

TEST_CASE("service_files: written once, then kept", "[tools][service]") {
  const test::TempDirectory image;
  const ServicePlaces places{.root = image.path(), .program = "/usr/bin/engram"};
  const Result<ServiceFiles> first = install_service_files(places);
  REQUIRE(first.ok());
  REQUIRE(first.value().unit == FileFate::written);
  REQUIRE(first.value().config == FileFate::written);
  REQUIRE(first.value().unit_path == image / "etc/systemd/system/engram.service");
  REQUIRE(text_of(places.config()) == service_config_text());
  REQUIRE(test::says(text_of(places.unit()), service_unit_text("/usr/bin/engram")));

  const Result<ServiceFiles> second = install_service_files(places);
  REQUIRE(second.value().unit == FileFate::kept);
  REQUIRE(second.value().config == FileFate::kept);

  // The program has moved: a unit of ours follows.
  const ServicePlaces moved{.root = image.path(), .program = "/opt/engram"};
  REQUIRE(install_service_files(moved).value().unit == FileFate::written);
  REQUIRE(test::says(text_of(places.unit()), "ExecStart=/opt/engram camera"));
}

TEST_CASE("service_files: what somebody edited is left alone", "[tools][service]") {
  const test::TempDirectory image;
  const ServicePlaces places{.root = image.path(), .program = "/usr/bin/engram"};
  REQUIRE(install_service_files(places).ok());
  const std::string edited = text_of(places.unit()) + "Nice=5\n";
  write(places.unit(), edited);
  write(places.config(), "mirror = yes\n");
  const ServicePlaces moved{.root = image.path(), .program = "/opt/engram"};
  const Result<ServiceFiles> files = install_service_files(moved);
  REQUIRE(files.value().unit == FileFate::edited);
  REQUIRE(files.value().config == FileFate::kept);
  REQUIRE(text_of(places.unit()) == edited);
  REQUIRE(text_of(places.config()) == "mirror = yes\n");
  REQUIRE_FALSE(remove_service_unit(places).value());
  REQUIRE(text_of(places.unit()) == edited);
}

TEST_CASE("service_files: a package's unit counts", "[tools][service]") {
  const test::TempDirectory image;
  const ServicePlaces places{.root = image.path(), .program = "/usr/bin/engram"};
  REQUIRE(install_service_files(places).ok());
  write(image / "usr/lib/systemd/system/engram.service", "[Unit]\n");
  const Result<ServiceFiles> files = install_service_files(places);
  // Ours would have hidden it.
  REQUIRE_FALSE(std::filesystem::exists(places.unit()));
  REQUIRE(files.value().unit_path == image / "usr/lib/systemd/system/engram.service");
  REQUIRE(install_service_files(places).value().unit == FileFate::kept);
}

TEST_CASE("service_files: ours goes, settings stay; a masked unit is somebody's",
          "[tools][service]") {
  const test::TempDirectory image;
  const ServicePlaces places{.root = image.path(), .program = "/usr/bin/engram"};
  REQUIRE_FALSE(remove_service_unit(places).value());
  REQUIRE(install_service_files(places).ok());
  REQUIRE(remove_service_unit(places).value());
  REQUIRE_FALSE(std::filesystem::exists(places.unit()));
  REQUIRE(std::filesystem::exists(places.config()));

  std::filesystem::create_symlink("/dev/null", places.unit());
  REQUIRE(install_service_files(places).value().unit == FileFate::edited);
  REQUIRE(std::filesystem::is_symlink(places.unit()));
}

}  // namespace engram
