#include "engine/model_store.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "platform/file.h"
#include "platform/hash.h"

namespace engram {

namespace {

constexpr std::size_t kMaxCard = 64 * 1024;

bool exists(const std::string& path) {
  struct stat found;
  return ::lstat(path.c_str(), &found) == 0;
}

Status remove_tree(const std::string& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (error) {
    return Status(Code::io_failure, fmt::format("cannot remove {}: {}", path, error.message()));
  }
  return {};
}

Status move(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) {
    return Status(Code::io_failure,
                  fmt::format("cannot rename {} to {}: {}", from, to, std::strerror(errno)));
  }
  return {};
}

Status bad_name(const std::string& name) {
  return Status(Code::invalid_argument,
                fmt::format("\"{}\" is not a name for a model: use 1 to 64 letters, digits, dots, "
                            "dashes or underscores, beginning with a letter or digit",
                            name));
}

}  // namespace

std::string default_home() {
  const auto set = [](const char* value) { return value != nullptr && value[0] != '\0'; };
  if (const char* home = std::getenv("ENGRAM_HOME"); set(home)) return home;
  if (const char* data = std::getenv("XDG_DATA_HOME"); set(data)) {
    return std::string(data) + "/engram";
  }
  const char* user = std::getenv("HOME");
  return (set(user) ? std::string(user) : ".") + "/.local/share/engram";
}

// Card and file of one entry, without reading the file's content.
Result<StoredModel> ModelStore::read(const std::string& name) const {
  const std::string folder = directory() + "/" + name;
  if (!exists(folder)) {
    return Status(Code::not_found, fmt::format("there is no model \"{}\" in {}. Add it with: "
                                               "engram model add {}",
                                               name, directory(), name));
  }
  const std::string again = fmt::format("Add it again with: engram model add --replace {}", name);
  auto text = read_file(folder + "/card.json", kMaxCard);
  if (!text.ok()) {
    return Status(Code::bad_data, fmt::format("{}. {}", text.status().what(), again));
  }
  auto card = parse_card(std::string(reinterpret_cast<const char*>(text->data()), text->size()));
  if (!card.ok()) {
    return Status(card.status().code(),
                  fmt::format("{}/card.json: {}. {}", folder, card.status().what(), again));
  }
  if (card->name != name) {
    return Status(Code::bad_data, fmt::format("{}/card.json describes \"{}\", not \"{}\". {}",
                                              folder, card->name, name, again));
  }
  StoredModel model{.card = std::move(card).value(), .onnx = folder + "/model.onnx", .problem = {}};
  if (!exists(model.onnx)) {
    return Status(Code::bad_data, fmt::format("{} is missing. {}", model.onnx, again));
  }
  return model;
}

Result<StoredModel> ModelStore::find(const std::string& name) const {
  if (!is_model_name(name)) return bad_name(name);
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

Result<StoredModel> ModelStore::find_by_hash(const std::string& sha256) const {
  ENGRAM_ASSIGN(const std::vector<StoredModel> models, list());
  for (const StoredModel& model : models) {
    if (model.problem.empty() && model.card.sha256 == sha256) return find(model.card.name);
  }
  return Status(Code::not_found,
                fmt::format("no model with the sha256 {} is in {}. Add the backbone that this was "
                            "made with: engram model add",
                            sha256, directory()));
}

Result<std::vector<StoredModel>> ModelStore::list() const {
  std::vector<StoredModel> models;
  if (!exists(directory())) return models;
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

// The finished folder `made` becomes `name`. Where the file system can exchange two names at once
// there is no moment without the model; elsewhere the old one is moved aside first.
Status ModelStore::put_in_place(const std::string& made, const std::string& name,
                                bool replace) const {
  const std::string target = directory() + "/" + name;
  if (!exists(target)) {
    ENGRAM_TRY(move(made, target));
    return sync_directory(directory());
  }
  if (!replace) {
    return Status(Code::invalid_argument,
                  fmt::format("there is a model \"{}\" already; it was kept. To replace it: "
                              "engram model add --replace, or choose another name with --as",
                              name));
  }
  if (::renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0) {
    ENGRAM_TRY(sync_directory(directory()));
    return remove_tree(made);
  }
  const std::string old = directory() + "/.old-" + name;
  ENGRAM_TRY(remove_tree(old));
  ENGRAM_TRY(move(target, old));
  if (Status moved = move(made, target); !moved.ok()) {
    ENGRAM_TRY(move(old, target));
    return moved;
  }
  ENGRAM_TRY(sync_directory(directory()));
  return remove_tree(old);
}

Status ModelStore::add(const std::string& onnx, const ModelCard& card, bool replace) const {
  if (!is_model_name(card.name)) return bad_name(card.name);
  // A card that could not be read back must never be written.
  ENGRAM_ASSIGN(const ModelCard same, parse_card(to_json(card)));
  ENGRAM_ASSIGN(const MappedFile file, MappedFile::open(onnx));
  if (sha256_hex(file.bytes()) != same.sha256) {
    return Status(Code::bad_data,
                  fmt::format("{} changed while it was being added; nothing was stored", onnx));
  }
  ENGRAM_TRY(make_directories(directory()));
  ENGRAM_ASSIGN(const FileLock lock, FileLock::acquire(directory() + "/.lock"));
  if (exists(directory() + "/" + card.name) && !replace) {
    return put_in_place("", card.name, false);  // the same refusal, before anything is copied
  }
  const std::string made = directory() + "/.new-" + card.name;
  ENGRAM_TRY(remove_tree(made));
  ENGRAM_TRY(make_directories(made));
  const std::string text = to_json(card);
  Status stored = replace_file(made + "/model.onnx", file.bytes());
  if (stored.ok()) stored = replace_file(made + "/card.json", std::as_bytes(std::span(text)));
  if (stored.ok()) stored = sync_directory(made);
  if (stored.ok()) stored = put_in_place(made, card.name, replace);
  if (!stored.ok()) {
    // Best effort: what is left begins with a dot, is never listed, and the next add removes it.
    (void)remove_tree(made);
    return Status(stored.code(), fmt::format("{}. The model was not stored; what was there is kept",
                                             stored.what()));
  }
  return {};
}

Status ModelStore::remove(const std::string& name) const {
  if (!is_model_name(name)) return bad_name(name);
  const std::string target = directory() + "/" + name;
  if (!exists(target)) {
    return Status(Code::not_found,
                  fmt::format("there is no model \"{}\" in {}", name, directory()));
  }
  ENGRAM_ASSIGN(const FileLock lock, FileLock::acquire(directory() + "/.lock"));
  const std::string old = directory() + "/.old-" + name;
  ENGRAM_TRY(remove_tree(old));
  ENGRAM_TRY(move(target, old));  // gone at once, whole; what takes time follows
  ENGRAM_TRY(sync_directory(directory()));
  return remove_tree(old);
}

}  // namespace engram
