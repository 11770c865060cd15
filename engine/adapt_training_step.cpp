#include <algorithm>

#include <fmt/format.h>

#include "engine/adapt_training_impl.h"
#include "kernels/kernels.h"
#include "platform/device_staging.h"
#include "platform/finite.h"

namespace engram {
namespace {

std::vector<int> all_but(int count, const std::vector<int>& left_out) {
  std::vector<char> is_out(std::size_t(count), 0);
  for (const int sample : left_out) is_out[std::size_t(sample)] = 1;
  std::vector<int> rest;
  for (int sample = 0; sample < count; ++sample) {
    if (is_out[std::size_t(sample)] == 0) rest.push_back(sample);
  }
  return rest;
}

AdaptSettings as_planned(AdaptSettings settings, const AdaptPlan& plan) {
  settings.micro_batch = plan.micro_batch;
  settings.recomputed_blocks = plan.recomputed;
  return settings;
}

void copy_row(MatrixView<const float> from, MatrixView<float> to) {
  std::copy_n(from.data, from.cols, to.data);
}

}  // namespace

AdaptTraining::Impl::Impl(const VitModel& vit, const AdaptSettings& wanted, const AdaptData& given,
                          AdaptPlan chosen, const Kernels& table, Arena memory)
    : model(vit),
      settings(as_planned(wanted, chosen)),
      data(given),
      plan(std::move(chosen)),
      kernels(table),
      trained(all_but(int(data.labels.size()), data.held_out)),
      arena(std::move(memory)),
      list(&arena),
      parameters(AdaptParameters::start(model.shape, settings, data.classes)),
      buffers(plan.work(VitFacts::of(model), settings), parameters.values.size(), data.classes,
              list),
      tensors(std::size_t(plan.micro_batch) * std::size_t(buffers.picture_size), 0.0f),
      network(model, kernels, buffers.vit, settings.branch_scale),
      head(kernels, buffers.head),
      adapt(views_of<const float>(parameters.slices, model.shape.blocks, parameters.values.data())),
      gradients(views_of<float>(parameters.slices, model.shape.blocks, buffers.gradients.data)) {
  arena.seal();
  labels.reserve(std::size_t(settings.micro_batch));
  keep_good();
}

Status AdaptTraining::Impl::load(std::span<const int> samples, int epoch) {
  const int count = int(samples.size()), size = buffers.picture_size;
  labels.clear();
  for (const int sample : samples) labels.push_back(data.labels[std::size_t(sample)]);
  return data.pictures(samples, epoch, {tensors.data(), count, size, size});
}

Status AdaptTraining::Impl::step(std::span<const int> samples, double& loss) {
  const int epoch = int(curves.size()), size = buffers.picture_size;
  const std::uint64_t number =
      std::uint64_t(epoch) * std::uint64_t(steps()) + std::uint64_t(next_step);
  StepDropout dropout{float(settings.dropout), settings.seed, number, settings.batch, 0};
  HeadResult result;
  const auto most = std::size_t(settings.micro_batch);
  for (std::size_t first = 0; first < samples.size(); first += most) {
    const auto part = samples.subspan(first, std::min(samples.size() - first, most));
    const int count = int(part.size());
    ENGRAM_TRY(load(part, epoch));
    const DeviceHold hold;
    if (first == 0) {
      std::fill_n(buffers.gradients.data, buffers.gradients.cols, 0.0f);
      ENGRAM_TRY(head.begin_step(adapt));
    }
    dropout.first_picture = int(first);
    ENGRAM_TRY(
        network.forward({tensors.data(), count, size, size}, adapt, dropout, head.features(count)));
    ENGRAM_TRY(
        head.loss_and_gradient(labels, adapt, 1.0f / float(samples.size()), gradients, result));
    ENGRAM_TRY(network.backward(head.dfeatures(count), adapt, dropout, gradients));
  }
  const DeviceHold hold;
  ENGRAM_TRY(head.end_step(gradients));
  ENGRAM_TRY(kernels.sgd_step(Stream{}, buffers.gradients, float(learning_rate_at(settings, epoch)),
                              float(settings.momentum), float(settings.weight_decay),
                              buffers.velocities, values()));
  loss = result.loss / result.count;
  sums.loss += result.loss;
  sums.right += result.right;
  sums.count += result.count;
  return {};
}

Status AdaptTraining::Impl::watch(HeadResult& result) {
  const auto most = std::size_t(settings.micro_batch);
  const int size = buffers.picture_size;
  for (std::size_t first = 0; first < data.held_out.size(); first += most) {
    const auto part =
        std::span(data.held_out).subspan(first).first(std::min(data.held_out.size() - first, most));
    const int count = int(part.size());
    ENGRAM_TRY(load(part, /*epoch=*/-1));
    const DeviceHold hold;
    if (first == 0) ENGRAM_TRY(head.begin_step(adapt));
    ENGRAM_TRY(
        network.forward({tensors.data(), count, size, size}, adapt, {}, head.features(count)));
    ENGRAM_TRY(head.loss(labels, adapt, result));
  }
  return {};
}

Status AdaptTraining::Impl::check_loss(double loss, double most) {
  if (loss <= most) return {};  // NaN is not
  return diverged(fmt::format("the loss is {:.4g}; it began at {:.4g}", loss, first_loss));
}

Status AdaptTraining::Impl::check_parameters() {
  const DeviceHold hold;
  if (are_finite(parameters.values)) return {};
  return diverged("a parameter is not a finite number any more");
}

Status AdaptTraining::Impl::diverged(const std::string& what) {
  const int epoch = int(curves.size()), at = next_step + 1;
  const DeviceHold hold;
  copy_row(buffers.good_values, values());
  copy_row(buffers.good_velocities, buffers.velocities);
  forget_epoch();
  const std::string kept = epoch == 0 ? std::string("The parameters are as at the start")
                                      : fmt::format("The parameters of epoch {} are kept", epoch);
  return Status(Code::bad_data,
                fmt::format("Phase 1 diverged in epoch {}, step {}: {}. {}; train with a smaller "
                            "learning rate than {:g}, such as {:g}.",
                            epoch + 1, std::min(at, steps()), what, kept, settings.learning_rate,
                            settings.learning_rate / 10));
}

void AdaptTraining::Impl::keep_good() {
  const DeviceHold hold;
  copy_row(values(), buffers.good_values);
  copy_row(buffers.velocities, buffers.good_velocities);
}

}  // namespace engram
