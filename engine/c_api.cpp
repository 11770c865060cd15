// The C API on top of Recogniser: checks pointers, turns Status into codes, stops exceptions.
#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/engram.h"
#include "engine/recogniser.h"
#include "kernels/backend.h"
#include "platform/image.h"
#include "platform/version.h"

using engram::Code;
using engram::Image;
using engram::Recogniser;
using engram::Result;
using engram::Status;

namespace {
std::atomic<int> open_learners{0};
}

struct engram_learner {
  explicit engram_learner(Recogniser opened) : recogniser(std::move(opened)) { ++open_learners; }
  ~engram_learner() { --open_learners; }
  engram_learner(const engram_learner&) = delete;
  engram_learner& operator=(const engram_learner&) = delete;

  // Labels are handed out as pointers; a set never moves its elements.
  const char* keep(const std::string& label) { return labels.insert(label).first->c_str(); }

  std::mutex mutex;
  Recogniser recogniser;
  std::set<std::string> labels;
};

namespace {

static_assert(ENGRAM_OK == static_cast<int>(Code::ok));
static_assert(ENGRAM_INVALID_ARGUMENT == static_cast<int>(Code::invalid_argument));
static_assert(ENGRAM_BAD_DATA == static_cast<int>(Code::bad_data));
static_assert(ENGRAM_NOT_FOUND == static_cast<int>(Code::not_found));
static_assert(ENGRAM_NOT_SUPPORTED == static_cast<int>(Code::not_supported));
static_assert(ENGRAM_OUT_OF_MEMORY == static_cast<int>(Code::out_of_memory));
static_assert(ENGRAM_DEVICE_FAILURE == static_cast<int>(Code::device_failure));
static_assert(ENGRAM_IO_FAILURE == static_cast<int>(Code::io_failure));
static_assert(ENGRAM_BUSY == static_cast<int>(Code::busy));
static_assert(ENGRAM_INTERNAL == static_cast<int>(Code::internal));

thread_local std::string last_error;

engram_code fail(Code code, const char* what) noexcept {
  try {
    last_error = what;
  } catch (...) {  // no memory for the text: the code must do
    last_error.clear();
  }
  return static_cast<engram_code>(code);
}

// Runs `body`, which returns a Status. Nothing but a code gets out.
template <class Body>
engram_code guarded(Body&& body) noexcept {
  try {
    const Status status = body();
    return status.ok() ? ENGRAM_OK : fail(status.code(), status.what());
  } catch (const std::bad_alloc&) {
    return fail(Code::out_of_memory, "not enough memory for this call; nothing was changed");
  } catch (const std::exception& error) {
    return fail(Code::internal, error.what());
  } catch (...) {
    return fail(Code::internal, "an unknown exception");
  }
}

Status null_pointer(const char* argument) {
  return {Code::invalid_argument, std::string(argument) + " is a null pointer; nothing was done"};
}

Result<Image> copy_pixels(const uint8_t* rgb, int width, int height, size_t stride) {
  if (rgb == nullptr) return null_pointer("rgb");
  if (width < 1 || height < 1 || engram::kMaxPixels / width < height) {
    return Status(Code::invalid_argument,
                  "a picture of " + std::to_string(width) + " x " + std::to_string(height) +
                      " pixels; at least 1 x 1 and at most " + std::to_string(engram::kMaxPixels) +
                      " in all are allowed");
  }
  const size_t row = size_t{3} * static_cast<size_t>(width);
  if (stride == 0) stride = row;
  if (stride < row) {
    return Status(Code::invalid_argument, "stride is " + std::to_string(stride) +
                                              " bytes, but a row has " + std::to_string(row));
  }
  Image image{width, height, std::vector<std::uint8_t>(row * static_cast<size_t>(height))};
  for (int y = 0; y < height; ++y) {
    const auto line = static_cast<size_t>(y);
    std::memcpy(image.rgb.data() + line * row, rgb + line * stride, row);
  }
  return image;
}

Result<Image> read_file(const char* path) {
  if (path == nullptr) return null_pointer("path");
  return engram::read_image(path);
}

Status learn(engram_learner* learner, Result<Image> image, const char* label) {
  if (learner == nullptr) return null_pointer("learner");
  if (label == nullptr) return null_pointer("label");
  if (!image.ok()) return image.status();
  const std::lock_guard lock(learner->mutex);
  return learner->recogniser.learn(*image, label);
}

Status classify(engram_learner* learner, Result<Image> image, engram_answer* answers, int top,
                int* count) {
  if (count != nullptr) *count = 0;
  if (learner == nullptr) return null_pointer("learner");
  if (answers == nullptr) return null_pointer("answers");
  if (count == nullptr) return null_pointer("count");
  if (top < 1) return {Code::invalid_argument, "top is " + std::to_string(top) + "; at least 1"};
  if (!image.ok()) return image.status();
  const std::lock_guard lock(learner->mutex);
  ENGRAM_ASSIGN(const auto found, learner->recogniser.classify(*image, top));
  for (const engram::Answer& answer : found) {
    if (*count == top) break;
    answers[(*count)++] = {learner->keep(answer.label), answer.score};
  }
  return {};
}

Status judge(engram_learner* learner, Result<Image> image, double false_alarms,
             engram_judgement* judgement) {
  if (learner == nullptr) return null_pointer("learner");
  if (judgement == nullptr) return null_pointer("judgement");
  *judgement = {};
  if (!(false_alarms >= 0 && false_alarms <= 1)) {
    return {Code::invalid_argument,
            "false_alarms is " + std::to_string(false_alarms) + "; it must be 0 to 1"};
  }
  if (!image.ok()) return image.status();
  const std::lock_guard lock(learner->mutex);
  ENGRAM_ASSIGN(const auto found, learner->recogniser.classify(*image, 1, false_alarms));
  const engram::Answer& best = found.at(0);
  *judgement = {learner->keep(best.label), best.score, best.probability, best.unknown ? 1 : 0};
  return {};
}

}  // namespace

const char* engram_version(void) {
  return engram::version();
}

const char* engram_code_name(engram_code code) {
  const bool known = code >= ENGRAM_OK && code <= ENGRAM_INTERNAL;
  return known ? engram::name(static_cast<Code>(code)) : "unknown";
}

const char* engram_last_error(void) {
  return last_error.c_str();
}

engram_code engram_use_backend(const char* name) {
  return guarded([&]() -> Status {
    if (name == nullptr) return null_pointer("name");
    ENGRAM_ASSIGN(const engram::BackendChoice choice, engram::parse_backend(name));
    if (open_learners > 0) {
      return {Code::busy, "a learner is open: choose the backend before, or close all learners"};
    }
    ENGRAM_ASSIGN(const engram::Backend backend, engram::find_backend(choice));
    engram::use_backend(backend);
    return {};
  });
}

const char* engram_backend(void) {
  const char* name = "cpu";
  (void)guarded([&]() -> Status {
    if (engram::backend_in_use().device) name = "cuda";
    return {};
  });
  return name;
}

engram_code engram_open(const char* state, const engram_options* options,
                        engram_learner** learner) {
  return guarded([&]() -> Status {
    if (learner == nullptr) return null_pointer("learner");
    *learner = nullptr;
    if (state == nullptr) return null_pointer("state");
    Recogniser::Options chosen;
    chosen.state = state;
    if (options != nullptr) {
      if (options->size != sizeof(engram_options)) {
        return {Code::invalid_argument, "engram_options.size is " + std::to_string(options->size) +
                                            ", not " + std::to_string(sizeof(engram_options)) +
                                            "; use ENGRAM_OPTIONS_INIT"};
      }
      if (options->home != nullptr) chosen.home = options->home;
      if (options->model != nullptr) chosen.model = options->model;
      if (options->read_only != 0) chosen.access = Recogniser::Access::read;
      if (options->hidden != 0) chosen.config.hidden = options->hidden;
      chosen.threads = options->threads;
    }
    ENGRAM_ASSIGN(Recogniser opened, Recogniser::open(chosen));
    *learner = new engram_learner(std::move(opened));
    return {};
  });
}

void engram_close(engram_learner* learner) {
  delete learner;
}

engram_code engram_learn_rgb(engram_learner* learner, const uint8_t* rgb, int width, int height,
                             size_t stride, const char* label) {
  return guarded([&] { return learn(learner, copy_pixels(rgb, width, height, stride), label); });
}

engram_code engram_learn_file(engram_learner* learner, const char* path, const char* label) {
  return guarded([&] { return learn(learner, read_file(path), label); });
}

engram_code engram_undo(engram_learner* learner, int steps) {
  return guarded([&]() -> Status {
    if (learner == nullptr) return null_pointer("learner");
    const std::lock_guard lock(learner->mutex);
    return learner->recogniser.undo(steps).status();
  });
}

engram_code engram_end_task(engram_learner* learner) {
  return guarded([&]() -> Status {
    if (learner == nullptr) return null_pointer("learner");
    const std::lock_guard lock(learner->mutex);
    return learner->recogniser.end_task().status();
  });
}

engram_code engram_classify_rgb(engram_learner* learner, const uint8_t* rgb, int width, int height,
                                size_t stride, engram_answer* answers, int top, int* count) {
  return guarded([&] {
    return classify(learner, copy_pixels(rgb, width, height, stride), answers, top, count);
  });
}

engram_code engram_classify_file(engram_learner* learner, const char* path, engram_answer* answers,
                                 int top, int* count) {
  return guarded([&] { return classify(learner, read_file(path), answers, top, count); });
}

engram_code engram_judge_rgb(engram_learner* learner, const uint8_t* rgb, int width, int height,
                             size_t stride, double false_alarms, engram_judgement* judgement) {
  return guarded([&] {
    return judge(learner, copy_pixels(rgb, width, height, stride), false_alarms, judgement);
  });
}

engram_code engram_judge_file(engram_learner* learner, const char* path, double false_alarms,
                              engram_judgement* judgement) {
  return guarded([&] { return judge(learner, read_file(path), false_alarms, judgement); });
}

int engram_class_count(engram_learner* learner) {
  int count = -1;
  guarded([&]() -> Status {
    if (learner == nullptr) return null_pointer("learner");
    const std::lock_guard lock(learner->mutex);
    count = static_cast<int>(learner->recogniser.classes().size());
    return {};
  });
  return count;
}

const char* engram_class_label(engram_learner* learner, int index) {
  const char* label = nullptr;
  guarded([&]() -> Status {
    if (learner == nullptr) return null_pointer("learner");
    const std::lock_guard lock(learner->mutex);
    const std::vector<std::string> classes = learner->recogniser.classes();
    if (index < 0 || static_cast<size_t>(index) >= classes.size()) {
      return {Code::invalid_argument, "class " + std::to_string(index) + " of " +
                                          std::to_string(classes.size()) + ": there is none"};
    }
    label = learner->keep(classes[static_cast<size_t>(index)]);
    return {};
  });
  return label;
}
