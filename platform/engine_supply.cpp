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

// In half, or in float where half cannot be had; `key` says which.
Result<std::vector<std::byte>> built(const EngineOrder& order, EngineKey& key) {
  auto engine = build_engine(*order.library, key.request, order.build);
  if (engine.ok() || engine.status().code() != Code::not_supported ||
      key.request.precision == Precision::full) {
    return engine;
  }
  note(order, fmt::format("{} The engine is built in float", sentence(engine.status().what())));
  key.request.precision = Precision::full;
  return build_engine(*order.library, key.request, order.build);
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
    if (opened.ok()) return opened;
    // Whole and ours, but the GPU does not take it: a newer driver, say.
    note(order, fmt::format("{} It is built again", sentence(opened.status().what())));
    break;
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
  }
  ENGRAM_ASSIGN(const std::vector<std::byte> engine, built(order, key));
  if (cache) {
    if (const Status done = cache->write(key, engine); !done.ok()) {
      note(order,
           fmt::format("{} The engine works, and is built again next time", sentence(done.what())));
    }
  }
  return order.library->open(engine, key.request);
}

}  // namespace engram
