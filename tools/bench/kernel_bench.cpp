#include "tools/bench/kernel_bench.h"

#include <algorithm>

#include "platform/device_staging.h"
#include "platform/steady_time.h"
#include "tools/bench/kernel_bench_cases.h"

namespace engram {
namespace {

constexpr int kColdRuns = 3, kLeastRuns = 5, kMostRuns = 1000;
constexpr int kOtherCols = 4096;  // of 8 bytes each

// Data that no operation uses, and a pass over it.
class OtherData {
 public:
  explicit OtherData(int rows)
      : rows_(rows),
        from_(std::size_t(rows) * kOtherCols, 1),
        to_(std::size_t(rows) * kOtherCols) {}
  Status pass(const Kernels& kernels) {
    return kernels.activate(Stream{}, {from_.data(), rows_, kOtherCols, kOtherCols}, 80, 31,
                            {to_.data(), rows_, kOtherCols, kOtherCols});
  }
  double bytes() const { return 8.0 * rows_ * kOtherCols; }

 private:
  int rows_;
  BufferVector<std::int32_t> from_;
  BufferVector<float> to_;
};

double median(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Measurement {
  double cold, warm, noise;
  int runs;
};

Result<Measurement> measure(const TrialCase& one, const BenchBackend& backend, OtherData& other,
                            double seconds) {
  const DeviceStaging* const device =
      backend.memory == nullptr ? nullptr : &DeviceStaging::of(*backend.memory);
  TrialFloats result;
  std::vector<double> cold, warm;
  const TrialClock cold_clock(device, [&] { return other.pass(*backend.kernels); });
  for (int i = 0; i < kColdRuns; ++i) {
    ENGRAM_TRY(one.run(*backend.kernels, cold_clock, result));
    cold.push_back(cold_clock.last_seconds());
  }
  const TrialClock warm_clock = TrialClock::warm(device);
  const double start = seconds_now();
  for (int i = 0; i < kMostRuns; ++i) {
    if (i >= kLeastRuns && seconds_now() - start > seconds) break;
    ENGRAM_TRY(one.run(*backend.kernels, warm_clock, result));
    warm.push_back(warm_clock.last_seconds());
  }
  const double middle = median(warm);
  const std::size_t quarter = warm.size() / 4;
  const double noise = 0.5 * (warm[warm.size() - 1 - quarter] - warm[quarter]) / middle;
  return Measurement{median(cold), middle, noise, int(warm.size())};
}

// Work that cannot be avoided; of a picture, its bytes and those of the tensor.
KernelWork least_work(const TrialCase& one, double cache_bytes) {
  if (one.operation == "preprocess") {
    const TrialPicture picture = trial_picture(one.size);
    const double bytes = one.shape.starts_with("NV12") ? 1.5 : 3.0;  // a pixel
    return {.least_bytes =
                bytes * picture.width * picture.height + 12.0 * picture.crop * picture.crop};
  }
  return kernel_work(one.operation, one.size, cache_bytes);
}

void compare_with_peaks(const KernelWork& work, const BenchBackend& backend, const BenchPeaks& cpu,
                        BenchRow& row) {
  row.bytes = work.least_bytes;
  row.operations = work.operations;
  if (backend.peaks) {
    const Estimate e = estimate(work, *backend.peaks);
    if (row.operation != "preprocess") row.estimate = e.seconds;
    row.share = e.limit_seconds / row.warm;
    row.peak = e.limit;
    return;
  }
  if (backend.memory != nullptr) return;  // a GPU that does not say how fast it is
  const double memory = row.bytes / row.warm / cpu.memory_bytes;
  const double floats = row.operations / row.warm / cpu.operations;
  row.share = std::max(memory, floats);
  row.peak = memory >= floats ? "memory" : "float";
}

}  // namespace

BenchPeaks measure_cpu_peaks(int other_rows) {
  constexpr int kRows = 256, kSide = 1024, kTurns = 5;
  OtherData data(other_rows);
  const BufferVector<float> f(std::size_t{kRows} * kSide, 1.0f),
      w(std::size_t{kSide} * kSide, 1.0f);
  BufferVector<float> h(std::size_t{kRows} * kSide);
  const TrialClock memory, products;
  for (int i = 0; i < kTurns; ++i) {
    ENGRAM_CHECK(memory([&] { return data.pass(kCpuKernels); }).ok());
    ENGRAM_CHECK(products([&] {
                   return cpu::project(Stream{}, {f.data(), kRows, kSide, kSide},
                                       {w.data(), kSide, kSide, kSide}, Nonlinearity::relu,
                                       {h.data(), kRows, kSide, kSide});
                 }).ok());
  }
  return {1e3 * data.bytes() / memory.milliseconds(),
          2e3 * kRows * kSide * kSide / products.milliseconds()};
}

Result<std::vector<BenchRow>> bench_kernels(const BenchBackend& backend,
                                            const BenchOptions& options,
                                            const std::function<void(const BenchRow&)>& done) {
  const BenchPeaks cpu = backend.peaks ? BenchPeaks{} : measure_cpu_peaks(options.other_rows);
  const double cache = backend.peaks ? backend.peaks->cache_bytes : 1e6;
  OtherData other(options.other_rows);
  if (backend.memory != nullptr) DeviceStaging::of(*backend.memory).measure(true);
  std::vector<BenchRow> rows;
  const Status status = visit_bench_cases(options, [&](const TrialCase& one) {
    if (backend.kernels != &kCpuKernels && !one.has(*backend.kernels)) return Status();
    BenchRow row{.operation = one.operation, .backend = backend.kernels->name, .shape = one.shape};
    const MachineState before = machine_state(options.root);
    ENGRAM_ASSIGN(const Measurement m, measure(one, backend, other, options.seconds));
    row.state = machine_state(options.root);
    row.throttled = was_throttled(before, row.state);
    row.cold = m.cold, row.warm = m.warm, row.noise = m.noise, row.runs = m.runs;
    compare_with_peaks(least_work(one, cache), backend, cpu, row);
    if (done) done(row);
    rows.push_back(std::move(row));
    return Status();
  });
  if (backend.memory != nullptr) DeviceStaging::of(*backend.memory).measure(false);
  ENGRAM_TRY(status);
  return rows;
}

}  // namespace engram
