#include "tools/web/api_transfer.h"

#include <filesystem>
#include <fstream>
#include <utility>

#include "platform/file.h"
#include "tools/convert/scratch_folder.h"
#include "tools/web/api_json.h"

namespace engram {
namespace {

constexpr std::size_t kMostErrands = 4;
constexpr std::size_t kPiece = 256 * 1024;

OrderResult failed(Status status) {
  OrderResult result;
  result.status = std::move(status);
  return result;
}

// A file that is removed with its folder when nobody needs it any more.
struct ScratchFile {
  explicit ScratchFile(ScratchFolder made) : folder(std::move(made)) {}
  ScratchFolder folder;
  std::string path = folder.path() + "/learned.engram";
  std::ifstream stream;
};

Result<std::shared_ptr<ScratchFile>> make_file() {
  ENGRAM_ASSIGN(ScratchFolder folder, ScratchFolder::make());
  return std::make_shared<ScratchFile>(std::move(folder));
}

Result<std::shared_ptr<ScratchFile>> exported(Live& live) {
  ENGRAM_ASSIGN(auto file, make_file());
  ENGRAM_TRY(live.export_to(file->path));
  file->stream.open(file->path, std::ios::binary);
  if (!file->stream) return Status(Code::io_failure, "The exported file cannot be read again.");
  return file;
}

HttpStream pieces_of(std::shared_ptr<ScratchFile> file) {
  const auto next = [file]() -> std::optional<std::string> {
    std::string piece(kPiece, '\0');
    file->stream.read(piece.data(), std::streamsize(piece.size()));
    piece.resize(std::size_t(file->stream.gcount()));
    if (piece.empty()) return std::nullopt;
    return piece;
  };
  std::map<std::string, std::string> headers{
      {"Content-Disposition", "attachment; filename=\"learned.engram\""},
      {"Cache-Control", "no-store"}};
  // With its length a browser can tell a file that was cut off.
  std::error_code error;
  const auto size = std::filesystem::file_size(file->path, error);
  if (!error) headers["Content-Length"] = std::to_string(size);
  return {"application/octet-stream", std::chrono::milliseconds(1), next, std::move(headers)};
}

Result<std::shared_ptr<ScratchFile>> written(const std::string& body) {
  ENGRAM_ASSIGN(auto file, make_file());
  std::ofstream out(file->path, std::ios::binary);
  out.write(body.data(), std::streamsize(body.size()));
  out.close();
  if (!out) {
    return Status(
        Code::io_failure,
        "The file could not be written for reading: is the disk full? Nothing was changed.");
  }
  return file;
}

}  // namespace

Transfer::Transfer(Live& live) : live_(live), thread_([this] { work(); }) {}

Transfer::~Transfer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Transfer::send(std::shared_ptr<HttpReply> reply) {
  const Status begun = begin([this, reply] {
    auto file = exported(live_);
    if (file.ok()) {
      reply->stream(pieces_of(*file));
    } else {
      reply->answer(error_response(file.status()));
    }
  });
  if (!begun.ok()) reply->answer(error_response(begun));
}

void Transfer::receive(std::string body, std::function<void(const OrderResult&)> done) {
  const auto kept = std::make_shared<std::string>(std::move(body));
  const Status begun = begin([this, kept, done] {
    auto file = written(*kept);
    *kept = {};
    if (!file.ok()) return done(failed(file.status()));
    Order order;
    order.kind = Order::Kind::merge;
    order.other = (*file)->path;
    const Status queued = live_.submit(
        std::move(order), [done, file = *file](const OrderResult& result) { done(result); });
    if (!queued.ok()) done(failed(queued));
  });
  if (!begun.ok()) done(failed(begun));
}

Status Transfer::begin(std::function<void()> errand) {
  {
    const std::lock_guard lock(mutex_);
    if (errands_.size() >= kMostErrands) {
      return Status(Code::busy,
                    "Other exports and imports are under way. Nothing was changed; try again.");
    }
    errands_.push_back(std::move(errand));
  }
  changed_.notify_one();
  return {};
}

void Transfer::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !errands_.empty(); });
    if (stopping_) return;
    auto errand = std::move(errands_.front());
    errands_.pop_front();
    lock.unlock();
    try {
      errand();
    } catch (...) {  // no memory: who asked is told, as the reply ends without an answer
    }
    errand = nullptr;
    lock.lock();
  }
}

}  // namespace engram
