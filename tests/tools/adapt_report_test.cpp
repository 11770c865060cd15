// What is said of a training, and which epoch is kept.
#include "tools/adapt/adapt_report.h"

#include <limits>

#include <nlohmann/json.hpp>

#include "tests/support/catch.h"
#include "tests/support/says.h"

namespace engram {
namespace {

using test::says;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::vector<AdaptEpoch> epochs(const std::vector<double>& held_out_losses) {
  std::vector<AdaptEpoch> curves;
  for (const double loss : held_out_losses) {
    curves.push_back({.loss = 2.0 / double(curves.size() + 1),
                      .accuracy = 50,
                      .held_out_loss = loss,
                      .held_out_accuracy = loss == loss ? 60 : kNone,  // NaN is not itself
                      .seconds = 1.5});
  }
  return curves;
}

}  // namespace

TEST_CASE("adapt report: the epoch with the least loss on pictures held out is kept",
          "[tools][adapt]") {
  CHECK(best_epoch({}) == -1);
  CHECK(best_epoch(epochs({2.0})) == 0);
  CHECK(best_epoch(epochs({2.0, 1.0, 1.5})) == 1);
  CHECK(best_epoch(epochs({2.0, 1.0, 1.0})) == 1);  // the earlier of equals
  CHECK(best_epoch(epochs({2.0, 1.5, 1.0})) == 2);
  CHECK(best_epoch(epochs({kNone, kNone, kNone})) == 2);  // nothing is held out: the last one
}

TEST_CASE("adapt report: curves as text, JSON and SVG", "[tools][adapt]") {
  const std::vector<AdaptEpoch> curves = epochs({2.0, 1.0, 1.5});
  CHECK(adapt_curves_text(epochs({1.0})).empty());
  const std::string text = adapt_curves_text(curves);
  CHECK(says(text, "loss over epochs\n   2.00 ┤ ●\n"));
  CHECK(says(text, "accuracy on pictures held out\n"));
  CHECK_FALSE(says(adapt_curves_text(epochs({kNone, kNone})), "held out"));

  CHECK((loss_axis({2, 0.5, kNone}).low == 0 && loss_axis({2, 0.5, kNone}).high == 2));
  CHECK((loss_axis({2, 1.5}).low == 1.5 && loss_axis({2, 1.5}).high == 2));
  CHECK(loss_axis({2, 2}).low < 2);
  CHECK(loss_axis({kNone}).low < loss_axis({kNone}).high);

  const nlohmann::ordered_json json = adapt_curves_json(epochs({1.0, kNone}));
  CHECK(json[0]["held_out_loss"] == 1.0);
  CHECK(json[1]["held_out_loss"].is_null());
  CHECK(training_seconds(curves) == 4.5);

  const std::string svg = adapt_curves_svg(curves, "a <title>", "b & c");
  CHECK(says(svg, "a &lt;title&gt;"));
  CHECK(says(svg, "b &amp; c"));
  CHECK(says(svg, "class=\"kept\""));
  CHECK_FALSE(says(svg, "nan"));
  CHECK_FALSE(says(adapt_curves_svg(epochs({kNone}), "t", "s"), "nan"));
}

TEST_CASE("adapt report: a gain is told as it is", "[tools][adapt]") {
  const auto told = [](RightAnswers before, RightAnswers after, bool is_added) {
    AdaptedModel model;
    model.stored.card.name = "new";
    model.after = after;
    model.is_added = is_added;
    return gain_text(before, model, "old");
  };
  const std::string gained = told({24, 30}, {27, 30}, true);
  CHECK(says(gained, "24 right before (80.0 %), 27 after (90.0 %)"));
  CHECK_FALSE(says(gained, "may do better"));
  CHECK(says(told({24, 30}, {24, 30}, true), "as many are right as before"));
  const std::string frozen = told({24, 30}, {20, 30}, false);
  CHECK(says(frozen, "kept frozen: clearly fewer are right than before, so no model was added"));
  CHECK(says(frozen, "go on with old"));
  CHECK(says(told({24, 30}, {20, 30}, true), "engram model remove new"));
  CHECK(says(told({24, 30}, {23, 30}, true), "fewer, by no more than chance explains"));
  CHECK(says(told({0, 0}, {0, 0}, true), "not measured"));
}

TEST_CASE("adapt report: a model is added unless clearly fewer are right", "[tools][adapt]") {
  CHECK(is_worth_adding({24, 30}, {25, 30}));
  CHECK(is_worth_adding({24, 30}, {24, 30}));
  CHECK(is_worth_adding({24, 30}, {22, 30}));  // sqrt(24 * 0.2) is 2.2
  CHECK_FALSE(is_worth_adding({24, 30}, {21, 30}));
  CHECK_FALSE(is_worth_adding({30, 30}, {29, 30}));
  CHECK(is_worth_adding({0, 0}, {0, 0}));  // nothing was held out
}

TEST_CASE("adapt report: names of adapted models", "[tools][adapt]") {
  CHECK(adapted_name("vit", AdaptMethod::ssf, "").value() == "vit-ssf");
  CHECK(adapted_name("vit", AdaptMethod::vpt, "mine").value() == "mine");
  CHECK(says(adapted_name(std::string(61, 'a'), AdaptMethod::vpt, "").status(), "--as"));
  CHECK(says(adapted_name("vit", AdaptMethod::vpt, "../x").status(), "--as"));
}

}  // namespace engram
