#include "engine/lambda_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "engine/lambda_range.h"
#include "platform/device_staging.h"

namespace engram {
namespace {

constexpr int kFirstMove = 5;         // a quarter of a decade
constexpr int kLongestMove = 20;      // a decade
constexpr int kMostMoves = 12;        // a search that wanders ends too
constexpr double kWorthwhile = 3e-4;  // of the loss
constexpr double kSmallestLoss = 1e-300;
constexpr double kUsualCurvature = 7.5e-4;  // of photos, a step

struct Point {
  double x, y;
};

// Second derivative of the parabola through three points, a in the middle.
double bend(Point left, Point a, Point right) {
  const double rise = (right.y - a.y) / (right.x - a.x), fall = (a.y - left.y) / (a.x - left.x);
  return 2.0 * (rise - fall) / (right.x - left.x);
}

}  // namespace

double LambdaSearch::lambda_of(int step) {
  return std::pow(10.0, double(step) / kStepsPerDecade);
}

int LambdaSearch::step_of(double lambda) {
  return int(std::lround(kStepsPerDecade * std::log10(lambda)));
}

LambdaSearch::LambdaSearch(double low, double high, std::function<double(double)> loss)
    : loss_(std::move(loss)) {
  const auto step = [](double lambda) {
    return kStepsPerDecade * std::log10(std::clamp(lambda, kSmallestLambda, kLargestLambda));
  };
  low_ = int(std::ceil(step(low) - 1e-9));
  high_ = std::max(low_, int(std::floor(step(high) + 1e-9)));
}

void LambdaSearch::attempt(int step) {
  if (tried_.contains(step)) return;
  last_ = step;
  DeviceHold::let_others();
  const double loss = loss_(lambda_of(step));
  if (!std::isfinite(loss)) {
    tried_[step] = std::numeric_limits<double>::quiet_NaN();
    low_ = std::max(low_, step + 1);
    return;
  }
  tried_[step] = std::log(std::max(loss, kSmallestLoss));
  if (!best_ || tried_[step] < tried_[*best_] ||
      (tried_[step] == tried_[*best_] && step < *best_)) {
    best_ = step;
  }
}

void LambdaSearch::sweep() {
  for (int step = high_; step >= low_; step -= kStepsPerDecade) attempt(step);
  for (const int width : {10, 5}) {
    if (!best_) return;
    const int middle = *best_;
    for (const int step : {middle + width, middle - width}) {
      if (step >= low_ && step <= high_) attempt(step);
    }
  }
  if (const std::optional<Move> move = best_ ? next({}) : std::nullopt) {
    attempt(std::clamp(int(std::lround(move->to)), low_, high_));
  }
}

void LambdaSearch::descend(int start, std::optional<double> curvature, double unseen) {
  attempt(std::clamp(start, low_, high_));
  for (int move = 0; move < kMostMoves && low_ <= high_; ++move) {
    if (!best_) {  // no factor: upwards until there is one
      attempt(std::min(last_ + kLongestMove, high_));
      continue;
    }
    const std::optional<Move> found = next(curvature);
    if (!found) return;
    const int step = std::clamp(int(std::lround(found->to)), low_, high_);
    if (found->promised < unseen) {
      unseen_ = step;
      return;
    }
    attempt(step);
  }
}

void LambdaSearch::follow(int start, double curvature, double unseen,
                          const std::function<double()>& slope) {
  std::optional<Point> before;  // y: slope a step
  int step = std::clamp(start, low_, high_);
  for (int move = 0; move < kMostMoves && low_ <= high_ && !tried_.contains(step); ++move) {
    attempt(step);
    if (std::isnan(tried_[step])) {  // no factor: upwards until there is one
      step = std::min(step + kLongestMove, high_);
      continue;
    }
    const Point here{double(step), slope() * std::numbers::ln10 / kStepsPerDecade};
    if (!std::isfinite(here.y)) return;
    if (before) {
      const double seen = (here.y - before->y) / (here.x - before->x);
      if (seen > 0) curvature = *(seen_curvature_ = seen);
    }
    before = here;
    const double gain = 0.5 * here.y * here.y / curvature;
    const double way = std::clamp(-here.y / curvature, -double(kLongestMove), double(kLongestMove));
    step = std::clamp(step + int(std::lround(way)), low_, high_);
    if (gain < kWorthwhile) return;
    if (gain < unseen) {
      unseen_ = step;
      return;
    }
  }
}

// Where the minimum should be, or nothing when it is not worth a loss.
std::optional<LambdaSearch::Move> LambdaSearch::next(std::optional<double> guess) const {
  const auto at = tried_.find(*best_);
  const Point middle{double(at->first), at->second};
  std::optional<Point> left, right;
  if (at != tried_.begin() && !std::isnan(std::prev(at)->second)) {
    left = Point{double(std::prev(at)->first), std::prev(at)->second};
  }
  if (std::next(at) != tried_.end() && !std::isnan(std::next(at)->second)) {
    right = Point{double(std::next(at)->first), std::next(at)->second};
  }

  double target = 0, c = 0, promised = 1.0;
  if (left && right) {
    c = bend(*left, middle, *right);
    if (!(c > 0)) return std::nullopt;  // flat
    const double slope = (right->y - left->y) / (right->x - left->x);
    target = (right->x + left->x) / 2 - slope / c;
    promised = 0.5 * c * (target - middle.x) * (target - middle.x);
  } else if (left || right) {
    const Point other = left ? *left : *right;
    const double slope = (middle.y - other.y) / (middle.x - other.x);
    c = guess.value_or(0.0);
    target = c > 0 ? (middle.x + other.x) / 2 - slope / c
                   : middle.x + (left ? kLongestMove : -kLongestMove);
    // From halfway on, where the slope is known; a guess that is steeper than usual promises less than
    // there may be.
    if (c > 0) promised = 0.5 * slope * slope / std::min(c, kUsualCurvature);
    // The best is at the end of what was tried: the minimum may be near it, but not beyond `other`.
    if ((target - other.x) * (middle.x - other.x) <= 0) target = (middle.x + other.x) / 2;
  } else {
    if (high_ - at->first >= kFirstMove) return Move{middle.x + kFirstMove, promised};
    if (at->first - low_ >= kFirstMove) return Move{middle.x - kFirstMove, promised};
    return std::nullopt;
  }
  target = std::clamp(target, std::max(double(low_), middle.x - kLongestMove),
                      std::min(double(high_), middle.x + kLongestMove));
  const double gain = c > 0 ? 0.5 * c * (target - middle.x) * (target - middle.x) : 1.0;
  if (gain < kWorthwhile || tried_.contains(int(std::lround(target)))) return std::nullopt;
  return Move{target, promised};
}

double LambdaSearch::best_lambda() const {
  return lambda_of(best());
}

std::optional<double> LambdaSearch::curvature() const {
  if (seen_curvature_) return seen_curvature_;
  if (!best_) return std::nullopt;
  const auto at = tried_.find(*best_);
  if (at == tried_.begin() || std::next(at) == tried_.end()) return std::nullopt;
  const auto left = std::prev(at), right = std::next(at);
  const double c = bend({double(left->first), left->second}, {double(at->first), at->second},
                        {double(right->first), right->second});
  return c > 0 ? std::optional(c) : std::nullopt;
}

void LambdaSearch::report(LambdaChoice& choice) const {
  for (const auto& [step, loss] : tried_) {
    choice.candidates.push_back(lambda_of(step));
    choice.losses.push_back(std::exp(loss));
  }
  if (best_) choice.lambda = best_lambda();
}

}  // namespace engram
