#include "tools/adapt/adapt_checkpoint.h"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "engine/byte_io.h"
#include "platform/hash.h"
#include "platform/sentence.h"
#include "tools/console/terminal.h"

namespace engram {
namespace {

constexpr std::string_view kTrainingMagic("EGADAPT\1", 8);
constexpr std::size_t kTrainingHead = 16;
constexpr std::size_t kMostCheckpointBytes = std::size_t{1}
                                             << 32;  // more than any model we read has

void put_text(ByteWriter& writer, std::string_view text) {
  writer.put(std::uint64_t(text.size()));
  writer.put_bytes(as_bytes(text));
}

std::string take_text(ByteReader& reader) {
  const auto size = reader.take<std::uint64_t>();
  return as_text(reader.take_bytes(std::size_t(size)));
}

}  // namespace

std::vector<std::byte> encode(const AdaptCheckpoint& checkpoint) {
  ByteWriter body;
  body.put(checkpoint.pictures);
  body.put(std::uint32_t(checkpoint.before.right));
  body.put(std::uint32_t(checkpoint.before.count));
  put_text(body, checkpoint.model);
  put_text(body, checkpoint.backbone);
  put_text(body, checkpoint.training);
  body.put(std::uint64_t(checkpoint.best.size()));
  body.put_bytes(std::as_bytes(std::span(checkpoint.best)));
  ByteWriter file;
  file.put_bytes(as_bytes(kTrainingMagic));
  file.put(checksum64(body.bytes()));
  file.put_bytes(body.bytes());
  return file.take();
}

Result<AdaptCheckpoint> parse_adapt_checkpoint(std::span<const std::byte> bytes,
                                               const std::string& name) {
  const auto damaged = [&](const char* how) {
    return Status(Code::bad_data,
                  fmt::format("{}: {}. The models are as they were; begin again with --restart.",
                              printable(name), how));
  };
  if (bytes.size() < kTrainingHead ||
      as_text(bytes.first(kTrainingMagic.size())) != kTrainingMagic) {
    return damaged("it holds no training of engram adapt");
  }
  ByteReader head(bytes.subspan(kTrainingMagic.size(), kTrainingHead - kTrainingMagic.size()));
  const std::span<const std::byte> body = bytes.subspan(kTrainingHead);
  if (checksum64(body) != head.take<std::uint64_t>()) return damaged("it is damaged");
  ByteReader reader(body);
  AdaptCheckpoint checkpoint;
  checkpoint.pictures = reader.take<std::uint64_t>();
  const auto right = reader.take<std::uint32_t>(), count = reader.take<std::uint32_t>();
  checkpoint.model = take_text(reader);
  checkpoint.backbone = take_text(reader);
  checkpoint.training = take_text(reader);
  const auto floats = reader.take<std::uint64_t>();
  if (reader.failed() || right > count || count > 1'000'000'000 ||
      reader.left() % sizeof(float) != 0 || floats != reader.left() / sizeof(float)) {
    return damaged("it was written wrongly");
  }
  checkpoint.before = {int(right), int(count)};
  checkpoint.best.resize(std::size_t(floats));
  const std::span<const std::byte> values = reader.take_bytes(reader.left());
  if (!values.empty()) std::memcpy(checkpoint.best.data(), values.data(), values.size());
  return checkpoint;
}

Result<AdaptCheckpointFile> AdaptCheckpointFile::open(const std::string& home,
                                                      const std::string& model, FileSystem& files) {
  const std::string folder = home + "/adapting";
  ENGRAM_TRY(make_directories(folder));
  auto lock = FileLock::acquire(folder + "/" + model + ".lock");
  if (lock.status().code() == Code::busy) {
    return Status(Code::busy, fmt::format("another process is making the model {} already; choose "
                                          "another name with --as, or wait for it.",
                                          model));
  }
  if (!lock.ok()) return lock.status();
  return AdaptCheckpointFile(folder + "/" + model + ".training", std::move(lock).value(), files);
}

Result<std::optional<AdaptCheckpoint>> AdaptCheckpointFile::load() const {
  const auto bytes = read_file(path_, kMostCheckpointBytes);
  if (bytes.status().code() == Code::not_found) return std::optional<AdaptCheckpoint>();
  if (!bytes.ok()) return bytes.status();
  ENGRAM_ASSIGN(AdaptCheckpoint checkpoint, parse_adapt_checkpoint(bytes.value(), path_));
  return std::optional(std::move(checkpoint));
}

Status AdaptCheckpointFile::save(const AdaptCheckpoint& checkpoint) const {
  return replace_file(path_, encode(checkpoint), *files_);
}

Status AdaptCheckpointFile::remove() const {
  if (files_->unlink(path_.c_str()) == 0 || errno == ENOENT) return {};
  return call_failed(path_, "unlink", errno, "The training in it is not needed any more.");
}

}  // namespace engram
