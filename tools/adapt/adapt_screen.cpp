#include "tools/adapt/adapt_screen.h"

#include <cmath>

#include <fmt/format.h>

#include "tools/console/terminal.h"
#include "tools/console/units.h"

namespace engram {

std::string loss_text(double loss) {
  return std::isfinite(loss) ? fmt::format("{:.3f}", loss) : "-";
}

std::string right_text(double percent) {
  return std::isfinite(percent) ? fmt::format("{:.1f} %", percent) : "-";
}

AdaptScreen::AdaptScreen(const Console& console, const AdaptSettings& settings, Detail detail)
    : console_(console),
      epochs_(settings.epochs),
      detail_(detail),
      table_({{"epoch", Align::right, 5},
              {"loss", Align::right, 6},
              {"right", Align::right, 7},
              {"held-out loss", Align::right},
              {"held-out right", Align::right},
              {"time", Align::right, 11},
              {"left", Align::right, 11}}) {}

void AdaptScreen::begin(const AdaptRun& run) {
  if (detail_ != Detail::table) return;
  const AdaptSettings& settings = run.training().settings();
  const AdaptPlan& plan = run.training().plan();
  const TrainingPictures& pictures = run.pictures();
  const int blocks = run.model().shape.blocks;
  console_.note(fmt::format(
      "{} by {}: {} of {}, {} of them held out; {} of batches of {}, learning rate {:g}\n",
      paint(printable(run.request().parent.card.name), Style::bold, console_.colour()),
      name(settings.method), plural(pictures.count(), "picture", "pictures"),
      plural(std::ssize(pictures.classes()), "class", "classes"), run.task().held_out.size(),
      plural(settings.epochs, "epoch", "epochs"), settings.batch, settings.learning_rate));
  console_.note(fmt::format(
      "memory: {} of {}; training takes {}, {} at a time{}; {} of {} kept in {}{}\n",
      bytes_text(plan.total() + pictures.kept_bytes()), bytes_text(run.memory()),
      bytes_text(plan.total()), plural(plan.micro_batch, "picture", "pictures"),
      plan.recomputed > 0 ? fmt::format(", {} of {} blocks computed twice", plan.recomputed, blocks)
                          : "",
      pictures.kept(), plural(pictures.count(), "picture", "pictures"),
      bytes_text(pictures.kept_bytes()),
      pictures.kept() < pictures.count() ? ", the others read again in each epoch" : ""));
  if (run.resumed_at() > 0) {
    console_.note(fmt::format("goes on after epoch {} of {}\n", run.resumed_at(), settings.epochs));
  }
  console_.note(table_.heading_line(console_.colour()));
}

double AdaptScreen::seconds_left(const AdaptStep& step) const {
  const double epochs = trained_epochs_ + 1.0 / step.steps;
  const double left = epochs_ - step.epoch - double(step.step) / step.steps;
  return (trained_seconds_ + step.seconds) / epochs * left;
}

void AdaptScreen::step(const AdaptStep& step) {
  const std::string what =
      fmt::format("epoch {}/{}  loss {}  right {}  {} left in all", step.epoch + 1, epochs_,
                  loss_text(step.epoch_loss), right_text(step.epoch_accuracy),
                  duration_text(std::ceil(seconds_left(step))));
  trained_seconds_ += step.seconds;
  trained_epochs_ += 1.0 / step.steps;
  if (bar_ == nullptr) {
    bar_ = std::make_unique<Progress>(console_.shows_progress(), what, step.steps);
    bar_->advance(step.step - 1);
  }
  bar_->rename(what);
  bar_->advance();
}

void AdaptScreen::epoch(const std::vector<AdaptEpoch>& curves) {
  bar_.reset();
  if (detail_ != Detail::table) return;
  const AdaptEpoch& last = curves.back();
  double seconds = 0;
  for (const AdaptEpoch& epoch : curves) seconds += epoch.seconds;
  const double left = seconds / double(curves.size()) * double(epochs_ - std::ssize(curves));
  table_.add({fmt::to_string(curves.size()), loss_text(last.loss), right_text(last.accuracy),
              loss_text(last.held_out_loss), right_text(last.held_out_accuracy),
              duration_text(last.seconds), left > 0 ? duration_text(std::ceil(left)) : "-"});
  console_.note(table_.row_line(table_.rows() - 1));
}

}  // namespace engram
