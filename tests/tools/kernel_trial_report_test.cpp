// What `doctor` says of the kernels when all does not go well: a GPU lost in the middle, or one that
// does not record. The GPU is the emulated one, with the faults of a real one.
#include "tools/doctor/kernel_trial_report.h"

#include <algorithm>
#include <string>

#include <nlohmann/json.hpp>

#include "platform/arena.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"
#include "tests/support/staged_simt.h"
#include "tools/doctor/kernel_trial_cases.h"

namespace engram {
namespace {

using test::kStagedSimtKernels;
using test::OnSimtDevice;
using test::says;
using Verdict = Finding::Verdict;

void lose_device() {
  simt::device_trial().waits_until_lost = 0;
}

// Where the device is lost: in an operation, or behind one, where the next to be seen is memory that is
// refused, to a trial or to the operands of those that follow.
enum class Loss { in_gram_update, behind_gram_update, behind_combine_rows, in_cholesky };

Kernels losing_kernels(Loss loss) {
  Kernels kernels = kStagedSimtKernels;
  switch (loss) {
    case Loss::in_gram_update:
      kernels.gram_update = [](Stream stream, MatrixView<const float> h, float sign, GramView g) {
        lose_device();
        return kStagedSimtKernels.gram_update(stream, h, sign, g);
      };
      break;
    case Loss::behind_gram_update:
      kernels.gram_update = [](Stream stream, MatrixView<const float> h, float sign, GramView g) {
        const Status status = kStagedSimtKernels.gram_update(stream, h, sign, g);
        lose_device();
        return status;
      };
      break;
    case Loss::behind_combine_rows:
      kernels.combine_rows = [](Stream stream, MatrixView<const float> weights, KeptView kept,
                                MatrixView<float> sums) {
        const Status status = kStagedSimtKernels.combine_rows(stream, weights, kept, sums);
        lose_device();
        return status;
      };
      break;
    case Loss::in_cholesky:
      kernels.cholesky = [](Stream stream, float lambda, MatrixView<const float> held_out,
                            GramView g) {
        lose_device();
        return kStagedSimtKernels.cholesky(stream, lambda, held_out, g);
      };
      break;
  }
  return kernels;
}

std::size_t rows_of_a_whole_report() {
  std::size_t rows = 0;
  for (const TrialMaker& make : trial_makers(TrialSize::emulator)) {
    for (const TrialCase& one : make()) rows += one.has(kStagedSimtKernels) ? 1 : 0;
  }
  return rows;
}

std::size_t times_said(const std::string& text, const std::string& words) {
  std::size_t times = 0;
  for (std::size_t at = text.find(words); at != text.npos; at = text.find(words, at + 1)) ++times;
  return times;
}

}  // namespace

TEST_CASE("kernel trials: a device lost in the middle leaves a whole report", "[tools][doctor]") {
  const auto [loss, where] =
      GENERATE(table<Loss, std::string>({{Loss::in_gram_update, "gram_update B 1 M 63"},
                                         {Loss::behind_gram_update, "class_sums B 1 M 63 K 3"},
                                         {Loss::behind_combine_rows, "the operands of frame"},
                                         {Loss::in_cholesky, "cholesky M 33"}}));
  CAPTURE(where);
  const std::size_t rows = rows_of_a_whole_report();
  const OnSimtDevice on;
  const TrialPlace place = trial_place();
  std::size_t reported = 0;
  const KernelTrials all = try_kernels(losing_kernels(loss), TrialSize::emulator,
                                       [&reported](const KernelTrial&) { ++reported; });
  CHECK(all.trials.size() == rows);
  CHECK(reported == rows);
  CHECK(all.lost.code() == Code::device_failure);
  CHECK(all.lost_at == where);

  // Well until it was lost; what came then was not tried.
  const auto first_bad =
      std::ranges::find_if(all.trials, [](const KernelTrial& one) { return !one.passed(); });
  REQUIRE(first_bad != all.trials.begin());
  REQUIRE(first_bad != all.trials.end());
  CHECK(first_bad->status.code() == Code::device_failure);
  CHECK(first_bad->was_tried == (loss != Loss::behind_combine_rows));
  const std::string marked = "not tried: the GPU was lost at " + where;
  for (auto one = first_bad + 1; one != all.trials.end(); ++one) {
    CAPTURE(one->operation, one->shape);
    CHECK_FALSE(one->passed());
    CHECK_FALSE(one->was_tried);
    CHECK(one->status.what() == marked);
  }
  const auto not_tried = std::size_t(all.not_tried());
  CHECK(not_tried == std::size_t(all.trials.end() - first_bad) - (first_bad->was_tried ? 1 : 0));

  CHECK(place.on_gpu);
  const std::string text = trials_text(all, place, false);
  CHECK(times_said(text, marked) == not_tried);
  CHECK(says(text, "sgd_step"));
  const nlohmann::ordered_json json = trials_json(all, place);
  CHECK(json.size() == rows);
  CHECK(json.back()["tried"] == false);
  CHECK(json.back()["passed"] == false);
  CHECK(json.back()["error"] == marked);
  const std::vector<Finding> found = trial_findings(all);
  REQUIRE_FALSE(found.empty());
  CHECK(found[0].verdict == Verdict::failure);
  CHECK(found[0].code == Code::device_failure);
  CHECK(says(found[0].text, where));

  CHECK(buffer_memory() == nullptr);  // what is needed from now on comes from the machine
  CHECK(backend_in_use().kernels == &kCpuKernels);
}

TEST_CASE("kernel trials: operands without room are told, and the others tried",
          "[tools][doctor]") {
  const std::size_t rows = rows_of_a_whole_report();
  Kernels kernels = kStagedSimtKernels;
  kernels.begin_sequence = nullptr;  // no recording stays behind for other tests
  kernels.end_sequence = nullptr;
  // Beside what staging and other tests hold: enough for small operands.
  const OnSimtDevice on({.memory_bytes = simt::device_bytes_allocated() + (100 << 10)});
  const KernelTrials all = try_kernels(kernels, TrialSize::emulator);
  CHECK(all.trials.size() == rows);
  CHECK(all.lost.ok());
  CHECK(all.trials.front().passed());
  CHECK(all.failures() > 0);
  for (const KernelTrial& one : all.trials) {
    CAPTURE(one.operation, one.shape, one.status.what());
    CHECK((one.passed() || one.status.code() == Code::out_of_memory));
  }
  CHECK(buffer_memory() == &simt::kMemory);
}

TEST_CASE("kernel trials: whether a frame was recorded is in its row", "[tools][doctor]") {
  const bool records = GENERATE(true, false);
  const OnSimtDevice on({.records = records});
  const TrialPlace place = trial_place();
  const KernelTrials all = try_kernels(kStagedSimtKernels, TrialSize::emulator);
  CHECK(all.failures() == 0);
  for (const KernelTrial& one : all.trials) {
    CAPTURE(one.operation, one.shape);
    CHECK(one.is_recorded.has_value() == (one.operation == "frame"));
    CHECK(one.is_recorded.value_or(records) == records);
  }
  const std::string text = trials_text(all, place, false);
  CHECK(times_said(text, "recorded: yes") == (records ? 7u : 0u));
  CHECK(times_said(text, "recorded: no, because cudaStreamEndCapture") == (records ? 0u : 7u));
  const auto frame = std::ranges::find(all.trials, "frame", &KernelTrial::operation);
  const nlohmann::ordered_json json = trials_json(all, place);
  const auto row = std::size_t(frame - all.trials.begin());
  CHECK(json[row]["recorded"] == records);
  CHECK(json[row].contains("why_not_recorded") == !records);
  const std::vector<Finding> found = trial_findings(all);
  REQUIRE(found.size() == (records ? 0u : 1u));
  if (!records) CHECK(found[0].verdict == Verdict::warning);
}

}  // namespace engram
