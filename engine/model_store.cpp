#include "engine/model_store.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "engine/model_store_files.h"
#include "platform/hash.h"
#include "platform/sentence.h"

namespace engram {

namespace {

constexpr std::size_t kMaxCard = 64 * 1024;

}  // namespace

std::string default_home() {
  const auto set = [](const char* value) { return value != nullptr && value[0] != '\0'; };
  if (const char* home = std::getenv("ENGRAM_HOME"); set(home)) return home;
  if (const char* data = std::getenv("XDG_DATA_HOME"); set(data)) {
    return std::string(data) + "/engram";
  }
  const char* user = std::getenv("HOME");
  return set(user) ? std::string(user) + "/.local/share/engram" : std::string();
}

// Card and file of one entry, without reading the file's content.
Result<StoredModel> ModelStore::read(const std::string& name) const {
  const std::string folder = directory() + "/" + name;
  if (!entry_exists(folder)) {
    return Status(Code::not_found, fmt::format("there is no model \"{0}\" in {1}. Add it with: "
                                               "engram model add {0}, or, where that name is not "
                                               "built in: engram model add FILE.onnx --as {0}",
                                               name, directory()));
  }
  const std::string again = fmt::format("Add it again with: engram model add --replace {}", name);
  auto text = read_file(folder + "/card.json", kMaxCard);
  if (!text.ok()) {
    return Status(Code::bad_data, fmt::format("{} {}", sentence(text.status().what()), again));
  }
  auto card = parse_card(std::string(reinterpret_cast<const char*>(text->data()), text->size()));
  if (card.status().code() == Code::not_supported) {  // a newer one: nothing is wrong with it
    return Status(Code::not_supported,
                  fmt::format("{}/card.json: {}", folder, card.status().what()));
  }
  if (!card.ok()) {
    return Status(card.status().code(), fmt::format("{}/card.json: {} {}", folder,
                                                    sentence(card.status().what()), again));
  }
  if (card->name != name) {
    return Status(Code::bad_data, fmt::format("{}/card.json describes \"{}\", not \"{}\". {}",
                                              folder, card->name, name, again));
  }
  StoredModel model{.card = std::move(card).value(), .onnx = folder + "/model.onnx", .problem = {}};
  if (!entry_exists(model.onnx)) {
    return Status(Code::bad_data, fmt::format("{} is missing. {}", model.onnx, again));
  }
  return model;
}

Result<StoredModel> ModelStore::find(const std::string& name) const {
  if (!is_model_name(name)) return bad_model_name(name);
  ENGRAM_ASSIGN(StoredModel model, read(name));
  ENGRAM_ASSIGN(const std::string hash, sha256_of_file(model.onnx));
  if (hash != model.card.sha256) {
    return Status(Code::bad_data,
                  fmt::format("{} is not the file its card describes: its sha256 is {}, the card "
                              "says {}. Add it again with: engram model add --replace {}",
                              model.onnx, hash, model.card.sha256, name));
  }
  return model;
}

Result<std::vector<StoredModel>> ModelStore::list() const {
  std::vector<StoredModel> models;
  if (!entry_exists(directory())) return models;
  std::error_code error;
  std::filesystem::directory_iterator entry(directory(), error), end;
  for (; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!is_model_name(name)) continue;  // .lock, and what an interrupted add left
    auto model = read(name);
    if (model.ok()) {
      models.push_back(std::move(model).value());
    } else {
      models.push_back({.card = {.name = name,
                                 .source = {},
                                 .licence = {},
                                 .sha256 = {},
                                 .preprocess = {},
                                 .output = {}},
                        .onnx = directory() + "/" + name + "/model.onnx",
                        .problem = model.status().what()});
    }
  }
  if (error) {
    return Status(Code::io_failure,
                  fmt::format("cannot read the folder {}: {}", directory(), error.message()));
  }
  std::sort(models.begin(), models.end(),
            [](const StoredModel& a, const StoredModel& b) { return a.card.name < b.card.name; });
  return models;
}

}  // namespace engram
