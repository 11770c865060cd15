#include "platform/backbone_switching.h"

#include <cmath>
#include <exception>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "platform/sentence.h"

namespace engram {

namespace {

// Of the length of the features; half precision was measured at 0.01 and less, nonsense is about 1.
constexpr double kMostDifference = 0.1;

}  // namespace

SwitchingBackbone::SwitchingBackbone(std::unique_ptr<Backbone> cpu, Prepare prepare)
    : cpu_(std::move(cpu)) {
  try {
    thread_ = std::thread([this, prepare = std::move(prepare)] { prepare_here(prepare); });
  } catch (const std::system_error&) {
    give_up("The system gives no thread to prepare the engine with; start the program again");
  }
}

SwitchingBackbone::~SwitchingBackbone() {
  stop_ = true;
  wait();
}

void SwitchingBackbone::wait() {
  if (thread_.joinable()) thread_.join();
}

SwitchingBackbone::Answers SwitchingBackbone::answers() const {
  const std::lock_guard<std::mutex> hold(guard_);
  return answers_;
}

std::string SwitchingBackbone::note() const {
  const std::lock_guard<std::mutex> hold(guard_);
  return note_;
}

EngineState SwitchingBackbone::state() const {
  using Kind = EngineState::Kind;
  const std::lock_guard<std::mutex> hold(guard_);
  switch (answers_) {
    case Answers::faster:
      return {.kind = Kind::answers};
    case Answers::cpu_for_good:
      return {.kind = Kind::given_up, .why = note_};
    case Answers::cpu_meanwhile:
      break;
  }
  if (!build_) return {.kind = Kind::opening};
  return {
      .kind = Kind::building, .fraction = build_->fraction, .seconds_left = build_->seconds_left};
}

void SwitchingBackbone::give_up(const std::string& why) {
  const std::lock_guard<std::mutex> hold(guard_);
  answers_ = Answers::cpu_for_good;
  note_ = sentence(why) + " The CPU answers.";
}

void SwitchingBackbone::prepare_here(const Prepare& prepare) {
  try {
    auto made = prepare(stop_, [this](const BuildState& build) {
      const std::lock_guard<std::mutex> hold(guard_);
      build_ = build;
    });
    if (!made.ok()) return give_up(made.status().what());
    const std::lock_guard<std::mutex> hold(guard_);
    arrived_ = std::move(made).value();
  } catch (const std::exception& error) {
    give_up(error.what());
  }
}

// Whether the faster one computes what the CPU computes.
Status SwitchingBackbone::compare(MatrixView<const float> inputs) {
  if (faster_->features() != features() || faster_->input_values() != input_values()) {
    return Status(
        Code::device_failure,
        fmt::format("the engine gives {} features of {} values, the model {} of {}",
                    faster_->features(), faster_->input_values(), features(), input_values()));
  }
  const auto width = static_cast<std::size_t>(features());
  std::vector<float> expected(width), given(width);
  ENGRAM_TRY(cpu_->run(inputs.row_range(0, 1), {expected.data(), 1, features(), features()}));
  ENGRAM_TRY(faster_->run(inputs.row_range(0, 1), {given.data(), 1, features(), features()}));
  double difference = 0, length = 0;
  for (std::size_t i = 0; i < width; ++i) {
    difference += (double(given[i]) - expected[i]) * (double(given[i]) - expected[i]);
    length += double(expected[i]) * expected[i];
  }
  const double relative = std::sqrt(difference / std::max(length, 1e-30));
  if (!(relative <= kMostDifference)) {  // also where it is no number
    return Status(Code::device_failure,
                  fmt::format("the engine gives other features than the model: they differ by "
                              "{:.0f} %",
                              100 * relative));
  }
  return {};
}

Status SwitchingBackbone::run(MatrixView<const float> inputs, MatrixView<float> features) {
  if (inputs.rows == 0) return cpu_->run(inputs, features);
  bool just_arrived = false;
  {
    const std::lock_guard<std::mutex> hold(guard_);
    if (arrived_) {
      faster_ = std::move(arrived_);
      just_arrived = true;
    }
  }
  if (faster_) {
    Status done = just_arrived ? compare(inputs) : Status();
    if (done.ok()) done = faster_->run(inputs, features);
    if (done.ok()) {
      if (just_arrived) {
        const std::lock_guard<std::mutex> hold(guard_);
        answers_ = Answers::faster;
      }
      return {};
    }
    faster_.reset();
    give_up(done.what());
  }
  return cpu_->run(inputs, features);
}

}  // namespace engram
