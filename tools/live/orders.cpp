#include "tools/live/orders.h"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "engine/state_file.h"
#include "platform/second_try.h"
#include "platform/sentence.h"
#include "platform/steady_time.h"
#include "tools/console/terminal.h"
#include "tools/console/units.h"
#include "tools/edit_report.h"

namespace engram {
namespace {

std::int64_t samples_of(const Learner& learner, const std::string& label) {
  const std::vector<ClassInfo> classes = learner.classes();
  const auto known = std::find_if(classes.begin(), classes.end(),
                                  [&](const ClassInfo& info) { return info.label == label; });
  return known == classes.end() ? 0 : known->samples;
}

std::string with_note(std::string text, const EditReport& report) {
  return report.note.empty() ? text : sentence(std::move(text)) + " " + report.note;
}

// A file that came over the network lies under a name that nobody has heard of: "The file is ...".
Status about_the_file(const Status& status, const std::string& path) {
  std::string text = status.what();
  for (std::size_t at = text.find(path); at != std::string::npos; at = text.find(path, at)) {
    text.replace(at, path.size(), at == 0 ? "The file" : "the file");
  }
  return Status(status.code(), text);
}

}  // namespace

const char* name(Order::Kind kind) {
  switch (kind) {
    case Order::Kind::learn:
      return "learn";
    case Order::Kind::undo:
      return "undo";
    case Order::Kind::relabel:
      return "relabel";
    case Order::Kind::rename:
      return "rename";
    case Order::Kind::forget:
      return "forget";
    case Order::Kind::end_task:
      return "end_task";
    case Order::Kind::merge:
      return "merge";
  }
  return "learn";
}

std::string ended_text(const ReadoutReport& report) {
  return fmt::format("the task has ended: lambda {:g} ({})", report.lambda, report.rule);
}

Orders::Orders(Store store, std::string device)
    : store_(std::move(store)), device_(std::move(device)) {}

template <class Work>
auto Orders::repeated_if_lost(const Work& work) -> decltype(work()) {
  const std::int64_t before = store_.sequence();
  // What has come to the disk is done, whatever failed after it: never twice.
  return second_try(
      work, "not enough memory for this. What was acknowledged before is kept.",
      [&](const Status& why) { return store_.sequence() == before && store_.recover(why).ok(); });
}

OrderResult Orders::carry_out(const Order& order, std::chrono::steady_clock::time_point submitted) {
  OrderResult result;
  Result<std::string> said = repeated_if_lost([&] {
    return order.kind == Order::Kind::learn ? learn(order, result.skipped) : edit(order);
  });
  if (said.ok()) result.said = std::move(said).value();
  result.status = said.status();
  result.durable_ms = milliseconds_since(submitted);
  return result;
}

Result<std::string> Orders::learn(const Order& order, bool& skipped) {
  if (order.sight == nullptr) {
    return Status(Code::not_found, "there is no picture yet, so nothing was learned");
  }
  const std::vector<float>& features = order.sight->features;
  if (features.empty()) {
    return Status(Code::not_found,
                  "nothing looked at this picture (paused, or the backbone failed), so nothing was "
                  "learned");
  }
  if (order.burst && burst_.is_near_duplicate(order.label, features)) {
    skipped = true;
    return fmt::format("skipped: nearly the same picture of {} again", printable(order.label));
  }
  const int width = int(features.size());
  ENGRAM_ASSIGN(const SampleBatch batch,
                store_.learner().encode({features.data(), 1, width, width}, {&order.label, 1}));
  ENGRAM_TRY(store_.learn(batch));
  burst_.learned(order.label, features, order.burst);
  return fmt::format("learned {} ({})", printable(order.label),
                     plural(samples_of(store_.learner(), order.label), "sample", "samples"));
}

Result<std::string> Orders::edit(const Order& order) {
  burst_.end();
  switch (order.kind) {
    case Order::Kind::learn:
      break;
    case Order::Kind::undo: {
      ENGRAM_ASSIGN(const EditReport report, store_.undo(order.count));
      std::string text;
      for (const Step& step : report.steps) {
        text += (text.empty() ? "" : "; ") + undone_text(step);
      }
      return with_note(std::move(text), report);
    }
    case Order::Kind::relabel: {
      ENGRAM_ASSIGN(const EditReport report, store_.relabel_last(order.count, order.label));
      return with_note(relabelled_text(report, order.label), report);
    }
    case Order::Kind::rename: {
      ENGRAM_ASSIGN(const EditReport report, store_.rename(order.label, order.other));
      return with_note(renamed_text(report, order.label, order.other), report);
    }
    case Order::Kind::forget: {
      ENGRAM_ASSIGN(const EditReport report, store_.forget(order.label));
      return with_note(forgotten_text(report, order.label), report);
    }
    case Order::Kind::end_task: {
      if (store_.learner().samples() == 0) {
        return Status(Code::not_found, "nothing is learned yet, so no task can end");
      }
      ENGRAM_ASSIGN(const ReadoutReport report, store_.end_task());
      return ended_text(report);
    }
    case Order::Kind::merge: {
      const Result<EditReport> merged = merge_state_file(store_, order.other, device_);
      if (!merged.ok()) return about_the_file(merged.status(), order.other);
      const EditReport& report = merged.value();
      return with_note(fmt::format("merged: {} of {}", plural(report.samples, "sample", "samples"),
                                   names_text(report.changed)),
                       report);
    }
  }
  return Status(Code::invalid_argument, "this order is not understood");
}

Status Orders::make_known() {
  Learner& learner = store_.learner();
  if (learner.samples() == 0) return {};
  if (learner.readout() == nullptr) return end_task().status();
  return repeated_if_lost([&] { return learner.refresh(); }).status();
}

Result<ReadoutReport> Orders::end_task() {
  return repeated_if_lost([&] { return store_.end_task(); });
}

Result<Teaching> Orders::judge() {
  return repeated_if_lost([&] { return store_.learner().teaching(); });
}

Status Orders::export_to(const std::string& file) {
  return export_state(store_, file, device_);
}

}  // namespace engram
