#include "platform/engine_supply.h"

#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "platform/engine_file.h"
#include "platform/sentence.h"

namespace engram {

namespace {

void note(const EngineOrder& order, const std::string& text) {
  if (order.on_note) order.on_note(sentence(text));
}

// What the cache has; nothing where it is empty or not to be believed.
std::optional<std::vector<std::byte>> kept(const EngineOrder& order, const EngineCache& cache,
                                           const EngineKey& key) {
  auto engine = cache.read(key);
  if (engine.ok()) return std::move(engine).value();
  if (engine.status().code() != Code::not_found) note(order, engine.status().what());
  return std::nullopt;
}

// Failures that may come again. Want of memory passes, where it is told as that, and who stopped it wants
// it another time.
bool comes_again(Code code) {
  return code == Code::bad_data || code == Code::device_failure || code == Code::internal;
}

// In half, or once more in float where half is refused; `key` says which.
Result<std::vector<std::byte>> built(const EngineOrder& order, EngineKey& key) {
  auto engine = build_engine(*order.library, key.request, order.build);
  const Code code = engine.status().code();
  if (key.request.precision == Precision::full ||
      (code != Code::not_supported && !comes_again(code))) {
    return engine;
  }
  note(order, fmt::format("{} The engine is built in float", sentence(engine.status().what())));
  key.request.precision = Precision::full;
  return build_engine(*order.library, key.request, order.build);
}

Result<std::unique_ptr<Backbone>> built_and_open(const EngineOrder& order, EngineKey key,
                                                 const std::optional<EngineCache>& cache) {
  ENGRAM_ASSIGN(const std::vector<std::byte> engine, built(order, key));
  if (cache) {
    if (const Status done = cache->write(key, engine); !done.ok()) {
      note(order,
           fmt::format("{} The engine works, and is built again next time", sentence(done.what())));
    }
  }
  return order.library->open(engine, key.request);
}

// Why it was refused before; nothing where it was not, or where the note is not to be believed.
std::optional<std::string> refused_before(const EngineOrder& order, const EngineCache& cache,
                                          const EngineKey& key) {
  auto why = cache.read_refusal(key);
  if (why.ok()) return std::move(why).value();
  if (why.status().code() != Code::not_found) note(order, why.status().what());
  return std::nullopt;
}

}  // namespace

Result<std::unique_ptr<Backbone>> supply_engine(const EngineOrder& order) {
  EngineKey key{.model_sha256 = order.model_sha256, .device = {}, .request = order.request};
  ENGRAM_ASSIGN(key.device, order.library->device());
  std::optional<EngineCache> cache;
  if (auto opened = EngineCache::open(order.cache, *order.files); opened.ok()) {
    cache.emplace(std::move(opened).value());
  } else {
    note(order, opened.status().what());
  }
  EngineKey in_float = key;
  in_float.request.precision = Precision::full;
  for (const EngineKey& one : {key, in_float}) {
    if (!cache) break;
    const auto engine = kept(order, *cache, one);
    if (!engine) continue;
    auto opened = order.library->open(*engine, one.request);
    if (opened.ok()) {
      cache->forget_refusal(key);  // the GPU takes it after all
      return opened;
    }
    // Whole and ours, but the GPU does not take it: a newer driver, say.
    note(order, fmt::format("{} It is built again", sentence(opened.status().what())));
    break;
  }
  if (cache && !order.try_again) {
    if (const auto why = refused_before(order, *cache, key)) {
      return Status(Code::not_supported,
                    fmt::format("{} It was tried before, and is tried again tomorrow, or by: "
                                "engram model engine {}",
                                sentence(*why), order.name));
    }
  }
  if (!order.may_build) {
    return Status(Code::not_found, fmt::format("{}: no engine for this GPU has been built yet",
                                               order.request.model));
  }
  std::optional<FileLock> lock;
  if (cache) {
    auto held = cache->lock_for_building();
    if (held.status().code() == Code::busy) {
      return Status(Code::busy, fmt::format("{}: another process builds an engine just now",
                                            order.request.model));
    }
    if (held.ok()) lock.emplace(std::move(held).value());
    cache->forget_refusal(key);
  }
  auto engine = built_and_open(order, key, cache);
  if (cache && comes_again(engine.status().code())) {
    if (const Status done = cache->write_refusal(key, engine.status().what()); !done.ok()) {
      note(order, fmt::format("{} It is tried again next time", sentence(done.what())));
    }
  }
  return engine;
}

}  // namespace engram
