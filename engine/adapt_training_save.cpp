// A training as bytes, little-endian:
//   "ENGADAPT", u32 version, settings, u64 digests of model and data, the epochs done (5 f64 each), the
//   epoch under way (step, loss, right, count, seconds), f64 first loss, u64 n, then 4 times n f32:
//   parameters, velocities, and both as the last epoch left them; u64 checksum of all before.
#include <cmath>

#include <fmt/format.h>

#include "engine/adapt_digest.h"
#include "engine/adapt_training_impl.h"
#include "engine/byte_io.h"
#include "platform/device_staging.h"
#include "platform/hash.h"

namespace engram {
namespace {

constexpr std::string_view kTrainingMagic = "ENGADAPT";
constexpr std::uint32_t kTrainingVersion = 2;  // 2: where the head begins

template <class T>
std::span<const std::byte> bytes_of(const T* values, std::size_t count) {
  return {reinterpret_cast<const std::byte*>(values), count * sizeof(T)};
}

// Calls visit(what, value) for every setting: one list for writing, reading and comparing.
template <class Settings, class Visit>
void each_setting(Settings& s, Visit&& visit) {
  visit("number of epochs", s.epochs);
  visit("batch", s.batch);
  visit("rank", s.rank);
  visit("number of prompts", s.prompts);
  visit("learning rate", s.learning_rate);
  visit("momentum", s.momentum);
  visit("weight decay", s.weight_decay);
  visit("scale of adapters", s.branch_scale);
  visit("dropout", s.dropout);
  visit("noise at the start", s.start_noise);
  visit("scale of the head", s.head_scale);
  visit("seed", s.seed);
}

void put_settings(const AdaptSettings& settings, ByteWriter& out) {
  out.put(std::uint8_t(settings.method));
  out.put(std::uint8_t(settings.head_start));
  each_setting(settings, [&](const char*, auto value) { out.put(value); });
  out.put(settings.micro_batch);
  out.put(settings.recomputed_blocks);
}

Status refuse_other(const std::string& what) {
  return Status(Code::invalid_argument,
                fmt::format("The saved training is of {}. Nothing was changed; go on with what it "
                            "was begun with, or begin anew.",
                            what));
}

Status damaged_training(const char* what) {
  return Status(Code::bad_data, fmt::format("The saved training is damaged: {}. Nothing was "
                                            "changed; begin anew, or restore the file.",
                                            what));
}

// The reader behind magic, version and settings.
struct Opened {
  AdaptSettings settings;
  ByteReader rest;
};

Result<Opened> open(const std::string& bytes) {
  const auto all = as_bytes(bytes);
  if (all.size() < kTrainingMagic.size() + 4 + 8 || !bytes.starts_with(kTrainingMagic)) {
    return damaged_training("it does not begin as one");
  }
  ByteReader head(all.subspan(kTrainingMagic.size()));
  if (const auto version = head.take<std::uint32_t>(); version != kTrainingVersion) {
    return Status(Code::not_supported,
                  fmt::format("The saved training has format {}, and this program knows {}. "
                              "Nothing was changed; use the program that it was begun with, or "
                              "begin anew.",
                              version, kTrainingVersion));
  }
  const auto content = all.first(all.size() - 8);
  if (ByteReader(all.last(8)).take<std::uint64_t>() != checksum64(content)) {
    return damaged_training("its checksum is wrong");
  }
  Opened opened{{}, ByteReader(content.subspan(kTrainingMagic.size() + 4))};
  opened.settings.method = AdaptMethod(opened.rest.take<std::uint8_t>());
  opened.settings.head_start = HeadStart(opened.rest.take<std::uint8_t>());
  each_setting(opened.settings, [&](const char*, auto& value) {
    value = opened.rest.take<std::remove_reference_t<decltype(value)>>();
  });
  opened.settings.micro_batch = opened.rest.take<int>();
  opened.settings.recomputed_blocks = opened.rest.take<int>();
  if (opened.rest.failed() || opened.settings.method > AdaptMethod::vpt ||
      opened.settings.head_start > HeadStart::means) {
    return damaged_training("it ends within its settings");
  }
  return opened;
}

Status compare(const AdaptSettings& saved, const AdaptSettings& mine) {
  if (saved.method != mine.method) {
    return refuse_other(
        fmt::format("the method {}, and this one is {}", name(saved.method), name(mine.method)));
  }
  if (saved.head_start != mine.head_start) {
    return refuse_other(fmt::format("a head that began at {}, and here at {}",
                                    name(saved.head_start), name(mine.head_start)));
  }
  std::string difference;
  std::vector<std::string> values;
  each_setting(mine, [&](const char*, auto value) { values.push_back(fmt::format("{}", value)); });
  std::size_t at = 0;
  each_setting(saved, [&](const char* what, auto value) {
    const std::string theirs = fmt::format("{}", value), ours = values[at++];
    if (theirs == ours || !difference.empty()) return;
    difference = fmt::format("another {}: {}, and here {}", what, theirs, ours);
  });
  return difference.empty() ? Status() : refuse_other(difference);
}

}  // namespace

void AdaptTraining::save(std::string& bytes) const {
  const Impl& impl = *impl_;
  ByteWriter out;
  out.put_bytes(as_bytes(kTrainingMagic));
  out.put(kTrainingVersion);
  put_settings(impl.settings, out);
  out.put(digest_of(impl.model));
  out.put(digest_of(impl.data));
  out.put(std::uint32_t(impl.curves.size()));
  for (const AdaptEpoch& epoch : impl.curves) {
    for (const double value : {epoch.loss, epoch.accuracy, epoch.held_out_loss,
                               epoch.held_out_accuracy, epoch.seconds}) {
      out.put(value);
    }
  }
  out.put(impl.next_step);
  out.put(impl.sums.loss);
  out.put(impl.sums.right);
  out.put(impl.sums.count);
  out.put(impl.seconds);
  out.put(impl.first_loss);
  const auto count = std::size_t(impl.count());
  out.put(std::uint64_t(count));
  const DeviceHold hold;
  for (const float* values :
       {impl.parameters.values.data(), static_cast<const float*>(impl.buffers.velocities.data),
        static_cast<const float*>(impl.buffers.good_values.data),
        static_cast<const float*>(impl.buffers.good_velocities.data)}) {
    out.put_bytes(bytes_of(values, count));
  }
  out.put(checksum64(out.bytes()));
  bytes = as_text(out.bytes());
}

Status AdaptTraining::restore(const std::string& bytes) {
  Impl& impl = *impl_;
  ENGRAM_ASSIGN(Opened saved, open(bytes));
  ENGRAM_TRY(compare(saved.settings, impl.settings));
  ByteReader& in = saved.rest;
  if (in.take<std::uint64_t>() != digest_of(impl.model)) return refuse_other("another model");
  if (in.take<std::uint64_t>() != digest_of(impl.data)) return refuse_other("other pictures");
  const auto epochs = in.take<std::uint32_t>();
  if (epochs > std::uint32_t(impl.settings.epochs))
    return damaged_training("it has too many epochs");
  std::vector<AdaptEpoch> curves(epochs);
  for (AdaptEpoch& epoch : curves) {
    for (double* value : {&epoch.loss, &epoch.accuracy, &epoch.held_out_loss,
                          &epoch.held_out_accuracy, &epoch.seconds}) {
      *value = in.take<double>();
    }
  }
  const auto next_step = in.take<int>();
  HeadResult sums;
  sums.loss = in.take<double>();
  sums.right = in.take<int>();
  sums.count = in.take<int>();
  const auto seconds = in.take<double>(), first_loss = in.take<double>();
  const auto count = in.take<std::uint64_t>();
  const bool counts_fit =
      sums.right >= 0 && sums.right <= sums.count && std::size_t(sums.count) <= impl.trained.size();
  if (in.failed() || !counts_fit || next_step < 0 || next_step > impl.steps() ||
      count != std::uint64_t(impl.count()) || in.left() != 4 * count * sizeof(float)) {
    return damaged_training("its sizes do not fit");
  }
  const DeviceHold hold;
  for (float* values : {impl.parameters.values.data(), impl.buffers.velocities.data,
                        impl.buffers.good_values.data, impl.buffers.good_velocities.data}) {
    const auto part = in.take_bytes(count * sizeof(float));
    std::memcpy(values, part.data(), part.size());
  }
  impl.curves = std::move(curves);
  impl.next_step = next_step;
  impl.sums = sums;
  impl.seconds = seconds;
  impl.first_loss = first_loss;
  return {};
}

Result<AdaptSettings> saved_adapt_settings(const std::string& bytes) {
  ENGRAM_ASSIGN(Opened saved, open(bytes));
  return saved.settings;
}

}  // namespace engram
