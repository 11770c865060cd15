// Trials of what every frame meets: picture to scores, and what is learned.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>

#include <fmt/format.h>

#include "tools/doctor/kernel_trial_cases.h"

namespace engram {
namespace {

struct Operands {
  explicit Operands(const OperationShape& s) {
    std::mt19937 random(1);
    const auto fill = [&random](auto& values, std::size_t count, auto make) {
      values.resize(count);
      for (auto& value : values) value = make(random());
    };
    const auto b = std::size_t(s.frames), l = std::size_t(s.features), m = std::size_t(s.units),
               k = std::size_t(s.classes), n = std::size_t(s.samples);
    fill(features, b * l, [](auto r) { return 0.001f * float(int(r % 8000) - 4000); });
    fill(bytes, b * l, [](auto r) { return std::int8_t(int(r % 255) - 127); });
    fill(words, (l + 31) / 32 * m, [](auto r) { return std::uint32_t(r); });
    fill(projections, b * m, [](auto r) { return std::int32_t(r % 60000) - 30000; });
    fill(hidden, b * m, [](auto r) { return float(r % 32); });
    fill(kept, std::max(b, n) * m, [](auto r) { return std::uint8_t(r % 32); });
    fill(weights, l * m, [](auto r) { return r % 2 ? 1.0f : -1.0f; });
    fill(readout, k * m, [](auto r) { return 1e-4f * float(int(r % 2000) - 1000); });
    fill(readout_of_features, k * l, [](auto r) { return 1e-4f * float(int(r % 2000) - 1000); });
    fill(probes, std::size_t{kLeverageProbes} * m,
         [](auto r) { return std::int16_t(int(r % 65535) - 32767); });
    fill(scales, kLeverageProbes, [](auto r) { return 1e-6f * float(1 + r % 100); });
    fill(row_weights, k * n, [](auto r) { return 1e-3f * float(int(r % 2000) - 1000); });
    fill(labels, b, [&](auto r) { return std::int32_t(r % k); });
    fill(sums, m * m > k * m ? m * m : k * m, [](auto r) { return float(r % 1000); });
    const TrialPicture frame = trial_picture(s);
    fill(picture, std::size_t{3} * std::size_t(frame.width) * std::size_t(frame.height),
         [](auto r) { return std::uint8_t(r); });
  }

  BufferVector<float> features, hidden, weights, readout, readout_of_features, scales, row_weights,
      sums;
  BufferVector<std::int16_t> probes;
  BufferVector<std::int8_t> bytes;
  BufferVector<std::uint32_t> words;
  BufferVector<std::int32_t> projections, labels;
  BufferVector<std::uint8_t> kept, picture;
};

template <class T>
MatrixView<const T> reads(const BufferVector<T>& values, int rows, int cols) {
  return {values.data(), rows, cols, cols};
}
template <class T>
MatrixView<T> writes(BufferVector<T>& values, int rows, int cols) {
  values.resize(std::size_t(rows) * std::size_t(cols));
  return {values.data(), rows, cols, cols};
}
// Of a failed operation nothing is looked at: its device may be lost, and what lies there with it.
template <class T>
Status into(BufferVector<float>& result, const BufferVector<T>& values, Status status) {
  if (status.ok()) result.assign(values.begin(), values.end());
  return status;
}

}  // namespace

TrialPicture trial_picture(const OperationShape& shape) {
  return shape.units < 1000 ? TrialPicture{47, 61, 32, 24} : TrialPicture{640, 480, 256, 224};
}

std::vector<TrialCase> frame_cases(const OperationShape& s) {
  const auto o = std::make_shared<const Operands>(s);
  const int b = s.frames, l = s.features, m = s.units, k = s.classes;
  const std::string input = fmt::format("B {} L {}", b, l), output = fmt::format("B {} M {}", b, m),
                    both = fmt::format("{} M {}", input, m),
                    classes = fmt::format("{} K {}", output, k);
  const int n = s.samples;
  const std::string samples = fmt::format("{} N {}", output, n),
                    sums = fmt::format("K {} N {} M {}", k, n, m);
  const KeptView left{o->kept.data(), nullptr, b, m}, kept{o->kept.data(), nullptr, n, m};
  const TrialPicture frame = trial_picture(s);
  const auto preprocess = [=](const char* format, PictureView picture,
                              Filter filter = Filter::bicubic) {
    return trial_case("preprocess", &Kernels::preprocess,
                      fmt::format("{} {} x {}", format, frame.width, frame.height), s, kSameBits,
                      [=](const Kernels& kernels, const TrialClock& clock, TrialFloats& result) {
                        const PreprocessSpec how{
                            .resize = frame.resize, .crop = frame.crop, .filter = filter};
                        return clock([&] {
                          return kernels.preprocess(Stream{}, picture, how,
                                                    writes(result, 3, frame.crop * frame.crop));
                        });
                      });
  };
  const PictureView rgb{reads(o->picture, frame.height, 3 * frame.width)};
  const PictureView nv12{reads(o->picture, frame.height, frame.width),
                         reads(o->picture, (frame.height + 1) / 2, (frame.width + 1) / 2 * 2),
                         kBt601};
  return {preprocess("RGB", rgb),
          preprocess("NV12", nv12),
          preprocess("RGB bilinear", rgb, Filter::bilinear),
          preprocess("NV12 bilinear", nv12, Filter::bilinear),
          trial_case("quantise", &Kernels::quantise, input, s, kSameBits,
                     [=](const Kernels& kernels, const TrialClock& clock, TrialFloats& result) {
                       BufferVector<std::int8_t> q;
                       BufferVector<std::int32_t> not_finite;
                       const auto to = writes(q, b, l);
                       const auto verdict = writes(not_finite, 1, b);
                       ENGRAM_TRY(into(result, q, clock([&] {
                                         return kernels.quantise(Stream{}, reads(o->features, b, l),
                                                                 40.0f, to, verdict);
                                       })));
                       result.insert(result.end(), not_finite.begin(), not_finite.end());
                       return Status();
                     }),
          trial_case("sign_project", &Kernels::sign_project, both, s, kSameBits,
                     [=](const Kernels& kernels, const TrialClock& clock, TrialFloats& result) {
                       BufferVector<std::int32_t> p;
                       const auto to = writes(p, b, m);
                       return into(result, p, clock([&] {
                                     return kernels.sign_project(Stream{}, reads(o->bytes, b, l),
                                                                 {o->words.data(), l, m}, to);
                                   }));
                     }),
          trial_case("activate", &Kernels::activate, output, s, kSameBits,
                     [=](const Kernels& kernels, const TrialClock& clock, TrialFloats& result) {
                       return clock([&] {
                         return kernels.activate(Stream{}, reads(o->projections, b, m), 80, 31,
                                                 writes(result, b, m));
                       });
                     }),
          trial_case("project", &Kernels::project, both, s, 1e-5,
                     [=](const Kernels& kernels, const TrialClock& clock, TrialFloats& result) {
                       return clock([&] {
                         return kernels.project(Stream{}, reads(o->features, b, l),
                                                reads(o->weights, l, m), Nonlinearity::relu,
                                                writes(result, b, m));
                       });
                     }),
          trial_case("score", &Kernels::score, classes, s, 1e-5,
                     [=](const Kernels& kernels, const TrialClock& clock, TrialFloats& result) {
                       return clock([&] {
                         return kernels.score(Stream{}, reads(o->hidden, b, m),
                                              reads(o->readout, k, m), writes(result, b, k));
                       });
                     }),
          trial_case("feature_score", &Kernels::feature_score, fmt::format("{} K {}", input, k), s,
                     1e-5,
                     [=](const Kernels& kernels, const TrialClock& clock, TrialFloats& result) {
                       result.assign(std::size_t(b) * std::size_t(k), 1.0f);
                       return clock([&] {
                         return kernels.feature_score(Stream{}, reads(o->bytes, b, l),
                                                      reads(o->readout_of_features, k, l),
                                                      writes(result, b, k));
                       });
                     }),
          trial_case("leverage", &Kernels::leverage, output, s, 1e-5,
                     [=](const Kernels& kernels, const TrialClock& clock, TrialFloats& result) {
                       BufferVector<float> products;
                       const auto room = writes(products, b, kLeverageProbes);
                       return clock([&] {
                         return kernels.leverage(
                             Stream{}, reads(o->hidden, b, m), reads(o->probes, kLeverageProbes, m),
                             reads(o->scales, 1, kLeverageProbes), room, writes(result, 1, b));
                       });
                     }),
          trial_case("gram_update", &Kernels::gram_update, output, s, kSameBits,
                     [=](const Kernels& kernels, const TrialClock& clock, TrialFloats& result) {
                       result = o->sums;
                       result.resize(std::size_t(m) * std::size_t(m) + std::size_t(m));
                       float* diagonal = result.data() + std::ptrdiff_t{m} * m;
                       return clock([&] {
                         return kernels.gram_update(Stream{}, reads(o->hidden, b, m), 1.0f,
                                                    {result.data(), diagonal, m, m});
                       });
                     }),
          trial_case("class_sums", &Kernels::class_sums, classes, s, kSameBits,
                     [=](const Kernels& kernels, const TrialClock& clock, TrialFloats& result) {
                       result = o->sums;
                       return clock([&] {
                         return kernels.class_sums(Stream{}, reads(o->hidden, b, m),
                                                   reads(o->labels, 1, b), 1.0f,
                                                   writes(result, k, m));
                       });
                     }),
          trial_case("kernel_rows", &Kernels::kernel_rows, samples, s, kSameBits,
                     [=](const Kernels& kernels, const TrialClock& clock, TrialFloats& result) {
                       return clock([&] {
                         return kernels.kernel_rows(Stream{}, left, kept, writes(result, b, n));
                       });
                     }),
          trial_case("combine_rows", &Kernels::combine_rows, sums, s, 1e-5,
                     [=](const Kernels& kernels, const TrialClock& clock, TrialFloats& result) {
                       result.assign(std::size_t(k) * std::size_t(m), 1.0f);
                       return clock([&] {
                         return kernels.combine_rows(Stream{}, reads(o->row_weights, k, n), kept,
                                                     writes(result, k, m));
                       });
                     })};
}

}  // namespace engram
