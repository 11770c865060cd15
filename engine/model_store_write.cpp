// ModelStore::add and remove.
//
// A model is made whole in `.new-<name>`, durably, and then put in place by renaming folders. What
// was there before is removed only when the new names are sure to survive a power cut: until then
// a cut could bring the old name back.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <span>

#include <fmt/format.h>

#include "engine/model_store.h"
#include "engine/model_store_files.h"
#include "platform/hash.h"
#include "platform/sentence.h"

namespace engram {

namespace {

Status remove_tree(const std::string& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (!error) return {};
  return Status(Code::io_failure, fmt::format("cannot remove {}: {}.", path, error.message()));
}

Status move(FileSystem& files, const std::string& from, const std::string& to) {
  if (files.rename(from.c_str(), to.c_str()) == 0) return {};
  return Status(Code::io_failure,
                fmt::format("cannot rename {} to {}: {}.", from, to, std::strerror(errno)));
}

Status already_there(const std::string& name) {
  return Status(Code::invalid_argument,
                fmt::format("there is a model \"{}\" already; it was kept. To replace it: engram "
                            "model add --replace, or choose another name with --as",
                            name));
}

}  // namespace

Status bad_model_name(const std::string& name) {
  return Status(Code::invalid_argument,
                fmt::format("\"{}\" is not a name for a model: use 1 to 64 letters, digits, dots, "
                            "dashes or underscores, beginning with a letter or digit",
                            name));
}

// What an interrupted add or remove left. Their names must be sure first: see above.
Status ModelStore::remove_leftovers(const std::string& name) const {
  const std::string made = directory() + "/.new-" + name, old = directory() + "/.old-" + name;
  if (!entry_exists(made) && !entry_exists(old)) return {};
  ENGRAM_TRY(sync_directory(directory(), *files_));
  ENGRAM_TRY(remove_tree(made));
  return remove_tree(old);
}

// The finished folder `made` becomes `name`. Where the file system can exchange two names at once
// there is no moment without the model; elsewhere the old one is moved aside first. After a failure
// the old one is in place.
Status ModelStore::put_in_place(const std::string& made, const std::string& name) const {
  const std::string target = directory() + "/" + name;
  if (!entry_exists(target)) return move(*files_, made, target);
  if (files_->exchange(made.c_str(), target.c_str()) == 0) return {};
  const std::string old = directory() + "/.old-" + name;
  ENGRAM_TRY(move(*files_, target, old));
  const Status moved = move(*files_, made, target);
  if (moved.ok()) return {};
  if (const Status back = move(*files_, old, target); !back.ok()) {
    return Status(back.code(), fmt::format("{} {} The model is in {} now: rename it to {}.",
                                           moved.what(), back.what(), old, target));
  }
  return moved;
}

Status ModelStore::add(const std::string& onnx, const ModelCard& card, bool replace) const {
  if (!is_model_name(card.name)) return bad_model_name(card.name);
  // A card that could not be read back must never be written.
  ENGRAM_ASSIGN(const ModelCard same, parse_card(to_json(card)));
  ENGRAM_ASSIGN(const MappedFile file, MappedFile::open(onnx));
  if (sha256_hex(file.bytes()) != same.sha256) {
    return Status(Code::bad_data,
                  fmt::format("{} changed while it was being added; nothing was stored", onnx));
  }
  ENGRAM_TRY(make_directories(directory()));
  ENGRAM_ASSIGN(const FileLock lock, FileLock::acquire(directory() + "/.lock"));
  const bool replaces = entry_exists(directory() + "/" + card.name);
  if (replaces && !replace) return already_there(card.name);
  const std::string made = directory() + "/.new-" + card.name;
  const std::string text = to_json(card);
  Status stored = remove_leftovers(card.name);
  if (stored.ok()) stored = make_directories(made);
  if (stored.ok()) stored = replace_file(made + "/model.onnx", file.bytes(), *files_);
  if (stored.ok()) {
    stored = replace_file(made + "/card.json", std::as_bytes(std::span(text)), *files_);
  }
  if (stored.ok()) stored = put_in_place(made, card.name);
  if (!stored.ok()) {
    // What cannot be removed begins with a dot, is never listed, and the next add removes it.
    (void)remove_tree(made);
    return Status(stored.code(),
                  fmt::format("{} The model \"{}\" was not stored; {}", sentence(stored.what()),
                              card.name, replaces ? "the old one is kept." : "none is there."));
  }
  if (const Status sure = sync_directory(directory(), *files_); !sure.ok()) {
    return Status(sure.code(),
                  fmt::format("The model \"{}\" is stored, but perhaps not for good. {}", card.name,
                              sure.what()));
  }
  (void)remove_leftovers(card.name);  // the old one; if it stays, the next add removes it
  return {};
}

Status ModelStore::remove(const std::string& name) const {
  if (!is_model_name(name)) return bad_model_name(name);
  const std::string target = directory() + "/" + name, old = directory() + "/.old-" + name;
  if (!entry_exists(target) && !entry_exists(old)) {
    return Status(Code::not_found,
                  fmt::format("there is no model \"{}\" in {}", name, directory()));
  }
  ENGRAM_ASSIGN(const FileLock lock, FileLock::acquire(directory() + "/.lock"));
  if (entry_exists(target)) {
    Status moved = remove_leftovers(name);
    if (moved.ok()) moved = move(*files_, target, old);  // gone at once, whole
    if (!moved.ok()) {
      return Status(moved.code(),
                    fmt::format("{} The model \"{}\" is kept.", sentence(moved.what()), name));
    }
  }
  if (const Status left = remove_leftovers(name); !left.ok()) {
    return Status(
        left.code(),
        fmt::format("The model \"{}\" is no longer listed, but its files are still in {}. "
                    "{}",
                    name, old, left.what()));
  }
  return {};
}

}  // namespace engram
