// The curves of a training as one SVG: loss on the left, accuracy on the right.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tools/adapt/adapt_report.h"
#include "tools/report_svg.h"

namespace engram {
namespace {

constexpr double kPlotsWidth = 1000, kPlotsHeight = 400;
constexpr double kPlotsTop = 90, kPlotsBottom = 340, kPanel = 390;  // of the axes
constexpr const char *kTrained = "#0072b2", *kHeldOut = "#d55e00";

struct Panel {
  double left, low, high;
  std::size_t epochs;
  double x(std::size_t epoch) const {
    return epochs < 2 ? left + kPanel / 2 : left + kPanel * double(epoch) / double(epochs - 1);
  }
  double y(double value) const {
    return kPlotsBottom - (kPlotsBottom - kPlotsTop) * (value - low) / (high - low);
  }
};

std::string label_at(double x, double y, const char* anchor, const char* style,
                     const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" class=\"{}\">{}</text>\n",
                     x, y, anchor, style, xml_escape(text));
}

std::string axes(const Panel& panel, const std::string& title, const char* unit, int decimals) {
  std::string svg = label_at(panel.left, kPlotsTop - 14, "start", "name", title);
  for (int i = 0; i <= 4; ++i) {
    const double value = panel.low + (panel.high - panel.low) * i / 4, y = panel.y(value);
    svg += fmt::format(
        "<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" "
        "class=\"grid\"/>\n",
        panel.left, panel.left + kPanel, y, y);
    svg += label_at(panel.left - 8, y + 4, "end", "tick",
                    fmt::format("{:.{}f}{}", value, decimals, unit));
  }
  const std::size_t every = std::max<std::size_t>(1, (panel.epochs + 9) / 10);
  for (std::size_t e = 0; e < panel.epochs; e += every) {
    svg += label_at(panel.x(e), kPlotsBottom + 18, "middle", "tick", fmt::to_string(e + 1));
  }
  return svg + label_at(panel.left + kPanel / 2, kPlotsBottom + 40, "middle", "tick", "epoch");
}

std::string line(const Panel& panel, const std::vector<AdaptEpoch>& curves,
                 double AdaptEpoch::*value, const char* colour) {
  std::string points;
  for (std::size_t e = 0; e < curves.size(); ++e) {
    if (!std::isfinite(curves[e].*value)) continue;
    points += fmt::format("{:.1f},{:.1f} ", panel.x(e), panel.y(curves[e].*value));
  }
  if (points.empty()) return "";
  return fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n",
                     points, colour);
}

std::string kept_mark(const Panel& panel, int epoch) {
  if (epoch < 0) return "";
  const double x = panel.x(std::size_t(epoch));
  return fmt::format("<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\" class=\"kept\"/>\n",
                     x, kPlotsTop, kPlotsBottom);
}

std::string legend(double x, const char* colour, const std::string& text) {
  return fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"4\" fill=\"{}\"/>\n", x, kPlotsHeight - 16,
                     colour) +
         label_at(x + 10, kPlotsHeight - 12, "start", "tick", text);
}

}  // namespace

std::string adapt_curves_svg(const std::vector<AdaptEpoch>& curves, const std::string& title,
                             const std::string& subtitle) {
  std::vector<double> losses;
  PlotSeries trained{"", {}}, watched{"", {}};
  for (const AdaptEpoch& epoch : curves) {
    losses.insert(losses.end(), {epoch.loss, epoch.held_out_loss});
    trained.values.push_back(epoch.accuracy);
    watched.values.push_back(epoch.held_out_accuracy);
  }
  const LossAxis axis = loss_axis(losses);
  const Panel loss{70, axis.low, axis.high, curves.size()};
  const Panel right{560, axis_floor({trained, watched}), 100, curves.size()};
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" role=\"img\">\n<title>{2}</title>\n"
      "<style>text{{font-family:system-ui,-apple-system,'Segoe UI',sans-serif;fill:#222}}"
      ".title{{font-size:18px;font-weight:600}}.tick{{font-size:12px;fill:#555}}"
      ".name{{font-size:13px}}.grid{{stroke:#ddd;stroke-width:1}}"
      ".kept{{stroke:#009e73;stroke-width:1.5;stroke-dasharray:4 4}}</style>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
      kPlotsWidth, kPlotsHeight, xml_escape(title));
  svg += label_at(24, 32, "start", "title", title) + label_at(24, 54, "start", "tick", subtitle);
  const int kept = best_epoch(curves);
  svg += axes(loss, "loss", "", 2) + kept_mark(loss, kept) +
         line(loss, curves, &AdaptEpoch::held_out_loss, kHeldOut) +
         line(loss, curves, &AdaptEpoch::loss, kTrained);
  svg += axes(right, "accuracy", " %", 0) + kept_mark(right, kept) +
         line(right, curves, &AdaptEpoch::held_out_accuracy, kHeldOut) +
         line(right, curves, &AdaptEpoch::accuracy, kTrained);
  svg += legend(70, kTrained, "pictures trained on") + legend(230, kHeldOut, "pictures held out") +
         legend(390, "#009e73", "dashed: the epoch that was kept");
  return svg + "</svg>\n";
}

}  // namespace engram
