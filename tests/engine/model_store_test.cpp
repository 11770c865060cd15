#include "engine/model_store.h"

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "platform/file.h"
#include "platform/hash.h"
#include "tests/support/catch.h"
#include "tests/support/fault_files.h"
#include "tests/support/says.h"
#include "tests/support/temp_directory.h"
#include "tests/support/thoroughness.h"

using namespace engram;
using namespace engram::test;

namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

void write_file(const std::string& path, const std::string& text) {
  REQUIRE(replace_file(path, bytes_of(text)).ok());
}

std::string text_of(const std::string& path) {
  const auto bytes = read_file(path, 1 << 20).value();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

ModelCard card_for(const std::string& name, const std::string& content) {
  ModelCard card;
  card.name = name;
  card.licence = "unknown";
  card.sha256 = sha256_hex(bytes_of(content));
  card.output = "features";
  card.features = 4;
  card.feature_scale = 1;
  card.hidden_mul = 1;
  return card;
}

}  // namespace

TEST_CASE("a model is stored, found, listed and removed", "[engine][model_store]") {
  const TempDirectory home;
  const ModelStore store(home.path());
  CHECK(store.list()->empty());
  CHECK(store.find("net").status().code() == Code::not_found);
  CHECK(says(store.find("net").status(), "engram model add net"));
  CHECK(says(store.find("net").status(), "engram model add FILE.onnx --as net"));

  write_file(home / "b.onnx", "content b");
  write_file(home / "a.onnx", "content a");
  REQUIRE(store.add(home / "b.onnx", card_for("b", "content b"), false).ok());
  REQUIRE(store.add(home / "a.onnx", card_for("a", "content a"), false).ok());
  const auto models = store.list();
  REQUIRE(models->size() == 2);
  CHECK(models.value()[0].card.name == "a");
  CHECK(models.value()[0].problem.empty());
  CHECK(text_of(store.find("a")->onnx) == "content a");

  REQUIRE(store.remove("a").ok());
  CHECK(store.find("a").status().code() == Code::not_found);
  CHECK(store.remove("a").code() == Code::not_found);
  CHECK(store.list()->size() == 1);
}

TEST_CASE("a model is replaced only when asked, and whole", "[engine][model_store]") {
  const TempDirectory home;
  const ModelStore store(home.path());
  write_file(home / "1.onnx", "first");
  write_file(home / "2.onnx", "second");
  REQUIRE(store.add(home / "1.onnx", card_for("net", "first"), false).ok());

  const Status refused = store.add(home / "2.onnx", card_for("net", "second"), false);
  CHECK(refused.code() == Code::invalid_argument);
  CHECK(says(refused, "--replace"));
  CHECK(text_of(store.find("net")->onnx) == "first");

  REQUIRE(store.add(home / "2.onnx", card_for("net", "second"), true).ok());
  CHECK(text_of(store.find("net")->onnx) == "second");
  int entries = 0;  // the lock and the model: nothing half-made is left
  for (const auto& entry : std::filesystem::directory_iterator(store.directory())) {
    (void)entry;
    ++entries;
  }
  CHECK(entries == 2);
}

TEST_CASE("what cannot be read back is not stored", "[engine][model_store]") {
  const TempDirectory home;
  const ModelStore store(home.path());
  write_file(home / "net.onnx", "content");
  ModelCard card = card_for("net", "other content");
  CHECK(says(store.add(home / "net.onnx", card, false), "changed"));
  card = card_for("net", "content");
  card.features = 0;
  CHECK_FALSE(store.add(home / "net.onnx", card, false).ok());
  card = card_for("../net", "content");
  CHECK(store.add(home / "net.onnx", card, false).code() == Code::invalid_argument);
  CHECK_FALSE(store.add(home / "absent.onnx", card_for("net", "content"), false).ok());
  CHECK(store.list()->empty());
}

TEST_CASE("a damaged model is found out", "[engine][model_store]") {
  const TempDirectory home;
  const ModelStore store(home.path());
  write_file(home / "net.onnx", "content");
  REQUIRE(store.add(home / "net.onnx", card_for("net", "content"), false).ok());
  const std::string folder = store.directory() + "/net";

  write_file(folder + "/model.onnx", "cOntent");
  CHECK(store.find("net").status().code() == Code::bad_data);
  CHECK(says(store.find("net").status(), "engram model add --replace net"));

  write_file(folder + "/card.json", "{}");
  CHECK(store.find("net").status().code() == Code::bad_data);
  CHECK(says(store.list().value()[0].problem, "format"));

  write_file(folder + "/card.json", to_json(card_for("other", "cOntent")));
  CHECK(says(store.find("net").status(), "describes \"other\""));

  write_file(folder + "/card.json", to_json(card_for("net", "cOntent")));
  CHECK(store.find("net").ok());
  std::filesystem::remove(folder + "/model.onnx");
  CHECK(says(store.find("net").status(), "missing"));
}

TEST_CASE("a card of a newer version is left alone", "[engine][model_store]") {
  const TempDirectory home;
  const ModelStore store(home.path());
  write_file(home / "net.onnx", "content");
  REQUIRE(store.add(home / "net.onnx", card_for("net", "content"), false).ok());
  const std::string path = store.directory() + "/net/card.json";
  std::string newer = to_json(card_for("net", "content"));
  newer.replace(newer.find("\"format\": 1"), 11, "\"format\": 2");
  write_file(path, newer);
  const Status status = store.find("net").status();
  CHECK(status.code() == Code::not_supported);
  CHECK(says(status, "newer version"));
  CHECK_FALSE(says(status, "--replace"));  // it would destroy what only needs a newer program
}

TEST_CASE("sentences about a model end once", "[engine][model_store]") {
  const TempDirectory home;
  const ModelStore store(home.path());
  write_file(home / "net.onnx", "content");
  REQUIRE(store.add(home / "net.onnx", card_for("net", "content"), false).ok());
  std::filesystem::remove(store.directory() + "/net/card.json");
  CHECK(says(store.find("net").status(), ". Add it again"));
  CHECK_FALSE(says(store.find("net").status(), ".."));
}

TEST_CASE("any failing call leaves one whole model, and the message says which",
          "[engine][model_store][fault]") {
  const bool replacing = GENERATE(false, true);
  const auto prepared = [&](const TempDirectory& home) {
    write_file(home / "1.onnx", "first");
    write_file(home / "2.onnx", "second");
    const ModelStore store(home.path());
    REQUIRE(store.add(home / "1.onnx", card_for("other", "first"), false).ok());
    if (replacing) REQUIRE(store.add(home / "1.onnx", card_for("net", "first"), false).ok());
  };
  FaultFiles counter;
  {
    const TempDirectory home;
    prepared(home);
    REQUIRE(ModelStore(home.path(), counter)
                .add(home / "2.onnx", card_for("net", "second"), true)
                .ok());
  }
  REQUIRE(counter.calls() > 10);
  for (const auto fault : {FaultFiles::Fault::fail_once, FaultFiles::Fault::fail_after,
                           FaultFiles::Fault::full_after}) {
    for (int at = 0; at < counter.calls(); at += test::every()) {
      const TempDirectory home;
      prepared(home);
      FaultFiles files(fault, at);
      const ModelStore store(home.path(), files);
      const Status status = store.add(home / "2.onnx", card_for("net", "second"), true);
      INFO("call " << at << " (" << test::name(counter.log()[at]) << "): " << status.what());
      const auto found = store.find("net");
      if (status.ok() || says(status, "is stored, but")) {
        REQUIRE(found.ok());
        CHECK(text_of(found->onnx) == "second");
      } else {
        CHECK(says(status, "was not stored"));
        CHECK(says(status, replacing ? "the old one is kept." : "none is there."));
        CHECK(found.ok() == replacing);
        if (replacing) CHECK(text_of(found->onnx) == "first");
      }
      CHECK_FALSE(says(status, ".."));
      CHECK(store.find("other").ok());
      // And the next one works, whatever was left behind.
      const ModelStore mended(home.path());
      REQUIRE(mended.add(home / "2.onnx", card_for("net", "second"), true).ok());
      CHECK(text_of(mended.find("net")->onnx) == "second");
    }
  }
}

TEST_CASE("removing may fail at any call, and be repeated", "[engine][model_store][fault]") {
  for (int at = 0; at < 3; ++at) {  // rename, then open and fsync of the folder
    const TempDirectory home;
    write_file(home / "1.onnx", "first");
    REQUIRE(ModelStore(home.path()).add(home / "1.onnx", card_for("net", "first"), false).ok());
    FaultFiles files(FaultFiles::Fault::fail_once, at);
    const ModelStore store(home.path(), files);
    const Status status = store.remove("net");
    INFO("call " << at << ": " << status.what());
    REQUIRE(files.struck());
    REQUIRE_FALSE(status.ok());
    CHECK(store.find("net").ok() == says(status, "is kept"));
    CHECK(ModelStore(home.path()).remove("net").ok());
    CHECK(store.find("net").status().code() == Code::not_found);
    CHECK(ModelStore(home.path()).remove("net").code() == Code::not_found);
  }
}

TEST_CASE("another process that adds is waited for by the user", "[engine][model_store]") {
  const TempDirectory home;
  const ModelStore store(home.path());
  write_file(home / "net.onnx", "content");
  REQUIRE(make_directories(store.directory()).ok());
  const auto lock = FileLock::acquire(store.directory() + "/.lock");
  REQUIRE(lock.ok());
  CHECK(store.add(home / "net.onnx", card_for("net", "content"), false).code() == Code::busy);
}

namespace {

// Sets a variable for the length of a test.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    ::setenv(name, value, 1);
  }
  ~Environment() {
    if (old_) {
      ::setenv(name_, old_->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

}  // namespace

TEST_CASE("the home folder follows the environment", "[engine][model_store]") {
  const Environment data("XDG_DATA_HOME", "/data");
  {
    const Environment home("ENGRAM_HOME", "");
    CHECK(default_home() == "/data/engram");
  }
  const Environment home("ENGRAM_HOME", "/elsewhere");
  CHECK(default_home() == "/elsewhere");
  const Environment no_data("XDG_DATA_HOME", ""), no_home("ENGRAM_HOME", ""), no_user("HOME", "");
  CHECK(default_home().empty());  // and not the folder where one happens to be
}
