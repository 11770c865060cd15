#include "engine/adapt_parameters.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "platform/philox.h"

namespace engram {
namespace {

constexpr std::size_t kAlignment = 16;  // floats

class SliceList {
 public:
  explicit SliceList(AdaptParameters& parameters) : parameters_(parameters) {}

  void add(std::string name, int rows, int cols) {
    parameters_.slices.push_back({std::move(name), rows, cols, size_});
    const std::size_t count = std::size_t(rows) * std::size_t(cols);
    size_ += (count + kAlignment - 1) / kAlignment * kAlignment;
  }
  void add_scale_shift(const std::string& name, int cols) {
    add(name + ".scale", 1, cols);
    add(name + ".shift", 1, cols);
  }
  std::size_t size() const { return size_; }

 private:
  AdaptParameters& parameters_;
  std::size_t size_ = 0;
};

void add_block(const VitShape& shape, const AdaptSettings& settings, int block, SliceList& list) {
  const std::string prefix = fmt::format("blocks.{}.", block);
  const int d = shape.width;
  switch (settings.method) {
    case AdaptMethod::adaptformer:
      list.add(prefix + "down.weight", settings.rank, d);
      list.add(prefix + "down.bias", 1, settings.rank);
      list.add(prefix + "up.weight", d, settings.rank);
      list.add(prefix + "up.bias", 1, d);
      break;
    case AdaptMethod::ssf:
      list.add_scale_shift(prefix + "norm1", d);
      list.add_scale_shift(prefix + "qkv", 3 * d);
      list.add_scale_shift(prefix + "proj", d);
      list.add_scale_shift(prefix + "norm2", d);
      list.add_scale_shift(prefix + "fc1", shape.hidden);
      list.add_scale_shift(prefix + "fc2", d);
      break;
    case AdaptMethod::vpt:
      list.add(prefix + "prompts", settings.prompts, d);
      break;
  }
}

// Returns the size of all.
std::size_t list_slices(const VitShape& shape, const AdaptSettings& settings, int classes,
                        AdaptParameters& parameters) {
  SliceList list(parameters);
  const bool is_ssf = settings.method == AdaptMethod::ssf;
  if (is_ssf) list.add_scale_shift("patch", shape.width);
  for (int block = 0; block < shape.blocks; ++block) add_block(shape, settings, block, list);
  if (is_ssf) list.add_scale_shift("norm", shape.width);
  parameters.body_size = list.size();
  if (classes > 0) {
    list.add("head.weight", classes, shape.features);
    list.add("head.sigma", 1, 1);
  }
  return list.size();
}

double uniform_of(std::uint32_t low, std::uint32_t high) {
  return double((std::uint64_t{high} << 32 | low) >> 11) * 0x1p-53;  // [0, 1)
}

// Numbers of the slice with this number in the list: any of them without the ones before.
class StartNumbers {
 public:
  StartNumbers(std::uint64_t seed, std::size_t slice) : seed_(seed), slice_(slice) {}
  double uniform(std::size_t index) const {  // [-1, 1)
    const PhiloxWords words = at(index);
    return 2 * uniform_of(words[0], words[1]) - 1;
  }
  double normal(std::size_t index) const {
    const PhiloxWords words = at(index);
    const double radius = std::sqrt(-2 * std::log(1 - uniform_of(words[0], words[1])));
    return radius * std::cos(2 * std::numbers::pi * uniform_of(words[2], words[3]));
  }

 private:
  PhiloxWords at(std::size_t index) const {
    return philox(
        {std::uint32_t(index), std::uint32_t(slice_), 0, std::uint32_t(PhiloxStream::start)},
        seed_);
  }
  std::uint64_t seed_;
  std::size_t slice_;
};

void fill(const AdaptSlice& slice, const StartNumbers& numbers, double noise, float* values) {
  const std::size_t count = std::size_t(slice.rows) * std::size_t(slice.cols);
  const std::string_view name = slice.name;
  const bool is_drawn = name.ends_with("down.weight") || name == "head.weight";
  const double bound = 1 / std::sqrt(double(slice.cols));
  for (std::size_t i = 0; i < count; ++i) {
    if (is_drawn) values[i] = float(bound * numbers.uniform(i));
    if (name.ends_with(".scale")) values[i] = float(1 + noise * numbers.normal(i));
    if (name.ends_with(".shift")) values[i] = float(noise * numbers.normal(i));
    if (name == "head.sigma") values[i] = 1;
  }
}

const AdaptSlice* find(const std::vector<AdaptSlice>& slices, std::string_view name) {
  const auto found = std::ranges::find(slices, name, &AdaptSlice::name);
  return found == slices.end() ? nullptr : &*found;
}

}  // namespace

std::size_t AdaptParameters::count(const VitShape& shape, const AdaptSettings& settings,
                                   int classes) {
  AdaptParameters parameters;
  return list_slices(shape, settings, classes, parameters);
}

AdaptParameters AdaptParameters::zeros(const VitShape& shape, const AdaptSettings& settings,
                                       int classes) {
  AdaptParameters parameters;
  parameters.method = settings.method;
  parameters.branch_scale = settings.branch_scale;
  parameters.values.assign(list_slices(shape, settings, classes, parameters), 0.0f);
  return parameters;
}

AdaptParameters AdaptParameters::start(const VitShape& shape, const AdaptSettings& settings,
                                       int classes) {
  AdaptParameters parameters = zeros(shape, settings, classes);
  for (std::size_t i = 0; i < parameters.slices.size(); ++i) {
    const AdaptSlice& slice = parameters.slices[i];
    fill(slice, StartNumbers(settings.seed, i), settings.start_noise,
         parameters.values.data() + slice.offset);
  }
  return parameters;
}

MatrixView<float> AdaptParameters::slice(std::string_view name) {
  const AdaptSlice* found = find(slices, name);
  if (found == nullptr) return {};
  return {values.data() + found->offset, found->rows, found->cols, found->cols};
}

MatrixView<const float> AdaptParameters::slice(std::string_view name) const {
  return const_cast<AdaptParameters*>(this)->slice(name);
}

template <class T>
AdaptViews<T> views_of(const std::vector<AdaptSlice>& slices, int blocks, T* values) {
  const auto view = [&](const std::string& name) -> MatrixView<T> {
    const AdaptSlice* found = find(slices, name);
    if (found == nullptr) return {};
    return {values + found->offset, found->rows, found->cols, found->cols};
  };
  const auto both = [&](const std::string& name) -> ScaleShiftViews<T> {
    return {view(name + ".scale"), view(name + ".shift")};
  };
  AdaptViews<T> views{both("patch"), both("norm"), {}, view("head.weight"), view("head.sigma")};
  for (int block = 0; block < blocks; ++block) {
    const std::string prefix = fmt::format("blocks.{}.", block);
    views.blocks.push_back({view(prefix + "down.weight"), view(prefix + "down.bias"),
                            view(prefix + "up.weight"), view(prefix + "up.bias"),
                            both(prefix + "norm1"), both(prefix + "qkv"), both(prefix + "proj"),
                            both(prefix + "norm2"), both(prefix + "fc1"), both(prefix + "fc2"),
                            view(prefix + "prompts")});
  }
  return views;
}
template AdaptViews<float> views_of(const std::vector<AdaptSlice>&, int, float*);
template AdaptViews<const float> views_of(const std::vector<AdaptSlice>&, int, const float*);

}  // namespace engram
