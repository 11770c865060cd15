#include "tools/adapt/adapt_report.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tools/console/terminal.h"
#include "tools/console/text_plot.h"
#include "tools/pictures/picture_stream.h"
#include "tools/report_svg.h"

namespace engram {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kPlotRows = 6;

Json finite_or_null(double value) {  // JSON has no NaN
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

std::vector<double> values_of(const std::vector<AdaptEpoch>& curves, double AdaptEpoch::*value) {
  std::vector<double> values;
  for (const AdaptEpoch& epoch : curves) values.push_back(epoch.*value);
  return values;
}

std::string loss_plot(const std::vector<double>& losses, const char* title) {
  if (!std::isfinite(losses.front())) return "";
  const LossAxis axis = loss_axis(losses);
  return fmt::format("{}\n{}", title, text_plot(losses, axis.low, axis.high, kPlotRows));
}

std::string accuracy_plot(const std::vector<double>& values, const char* title) {
  if (!std::isfinite(values.front())) return "";
  return fmt::format("{}\n{}", title,
                     text_plot(values, axis_floor({PlotSeries{"", values}}), kPlotRows));
}

}  // namespace

LossAxis loss_axis(const std::vector<double>& losses) {
  LossAxis axis{std::numeric_limits<double>::infinity(), 0.01};
  for (const double loss : losses) {
    if (!std::isfinite(loss)) continue;
    axis.low = std::min(axis.low, loss);
    axis.high = std::max(axis.high, loss);
  }
  if (!(axis.low > axis.high / 2)) axis.low = 0;
  if (axis.high - axis.low < 0.01) axis.low = axis.high - 0.01;
  return axis;
}

std::string adapt_curves_text(const std::vector<AdaptEpoch>& curves) {
  if (curves.size() < 2) return "";
  return loss_plot(values_of(curves, &AdaptEpoch::loss), "loss over epochs") +
         loss_plot(values_of(curves, &AdaptEpoch::held_out_loss), "loss on pictures held out") +
         accuracy_plot(values_of(curves, &AdaptEpoch::held_out_accuracy),
                       "accuracy on pictures held out");
}

Json adapt_curves_json(const std::vector<AdaptEpoch>& curves) {
  Json list = Json::array();
  for (const AdaptEpoch& epoch : curves) {
    list.push_back({{"loss", finite_or_null(epoch.loss)},
                    {"accuracy", finite_or_null(epoch.accuracy)},
                    {"held_out_loss", finite_or_null(epoch.held_out_loss)},
                    {"held_out_accuracy", finite_or_null(epoch.held_out_accuracy)},
                    {"seconds", epoch.seconds}});
  }
  return list;
}

double training_seconds(const std::vector<AdaptEpoch>& curves) {
  double seconds = 0;
  for (const AdaptEpoch& epoch : curves) seconds += epoch.seconds;
  return seconds;
}

std::string ended_text(const AdaptRun& run, AdaptRun::End end) {
  const auto& curves = run.training().curves();
  const int kept = best_epoch(curves) + 1, done = int(curves.size());
  if (end == AdaptRun::End::early) {
    return fmt::format(
        "stopped early: for {} epochs the loss on pictures held out did not get better than in "
        "epoch {}, which was kept",
        run.request().patience, kept);
  }
  if (run.task().held_out.empty()) return fmt::format("kept epoch {}, the last one", kept);
  return kept == done
             ? fmt::format("kept epoch {}, the last one and the best on pictures held out", kept)
             : fmt::format("kept epoch {} of {}, the best on pictures held out", kept, done);
}

bool is_worth_adding(const RightAnswers& before, const RightAnswers& after) {
  if (before.count == 0) return true;
  const double wrong = 1 - double(before.right) / before.count;
  return before.right - after.right <= std::sqrt(before.right * wrong);
}

std::string gain_text(const RightAnswers& before, const AdaptedModel& model,
                      const std::string& parent) {
  if (before.count == 0) {
    return "no class has enough pictures to hold some out, so whether it helped was not measured: "
           "compare with engram evaluate";
  }
  const RightAnswers& after = model.after;
  const std::string text = fmt::format(
      "nearest class mean on {} pictures held out: {} right before ({:.1f} %), {} after ({:.1f} %)",
      before.count, before.right, before.percent(), after.right, after.percent());
  if (after.right > before.right) return text;
  const std::string advice = "More pictures, another method or fewer epochs may do better";
  if (!model.is_added) {
    return text +
           fmt::format(
               "\nkept frozen: clearly fewer are right than before, so no model was added; go on "
               "with {}. {}; --always adds it all the same",
               printable(parent), advice);
  }
  if (is_worth_adding(before, after)) {
    return text + fmt::format(
                      "\n{}: whether it helps with what comes later, engram evaluate --phase1 "
                      "tells. {}",
                      after.right == before.right ? "as many are right as before"
                                                  : "fewer, by no more than chance explains",
                      advice);
  }
  return text + fmt::format(
                    "\nadded as asked, though clearly fewer are right than before: engram model "
                    "remove {} takes it away. {}",
                    printable(model.stored.card.name), advice);
}

Json adapt_json(const AdaptRun& run, AdaptRun::End end, const AdaptedModel& model) {
  const AdaptSettings& settings = run.training().settings();
  const AdaptPlan& plan = run.training().plan();
  const auto& curves = run.training().curves();
  const auto share = [](const RightAnswers& answers) {
    return answers.count == 0 ? Json(nullptr)
                              : Json{{"right", answers.right}, {"percent", answers.percent()}};
  };
  return {{"model", model.is_added ? Json(model.stored.card.name) : Json(nullptr)},
          {"sha256", model.stored.card.sha256},
          {"parent", run.request().parent.card.name},
          {"parent_sha256", run.request().parent.card.sha256},
          {"adapted", model.stored.card.adapted},
          {"method", name(settings.method)},
          {"classes", run.task().classes},
          {"pictures", run.pictures().count()},
          {"held_out", run.task().held_out.size()},
          {"epochs", curves.size()},
          {"kept_epoch", best_epoch(curves) + 1},
          {"stopped_early", end == AdaptRun::End::early},
          {"resumed_after_epoch", run.resumed_at()},
          {"nearest_mean_before", share(run.before())},
          {"nearest_mean_after", share(model.after)},
          {"helped",
           run.before().count == 0 ? Json(nullptr) : Json(model.after.right > run.before().right)},
          {"difference_to_onnx", model.difference},
          {"memory",
           {{"budget_bytes", run.memory()},
            {"training_bytes", plan.total()},
            {"pictures_bytes", run.pictures().kept_bytes()},
            {"pictures_kept", run.pictures().kept()},
            {"micro_batch", plan.micro_batch},
            {"recomputed_blocks", plan.recomputed}}},
          {"seconds", training_seconds(curves)},
          {"curves", adapt_curves_json(curves)},
          {"skipped", skipped_json(run.pictures().skipped())}};
}

}  // namespace engram
