// A search for the lambda with the smallest loss, for losses that are dear.
//
// On a grid of twenty values a decade, lambda = 10^(step / 20), whose steps are absolute: rounding
// in the losses does not show in the result. Losses are compared on a logarithmic scale, on which
// they look like parabolas near their minimum. A loss that is NaN never wins, and nothing below it
// is tried: what float cannot carry at one lambda it cannot carry at a smaller one.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "engine/lambda_rule.h"

namespace engram {

class LambdaSearch {
 public:
  static constexpr int kStepsPerDecade = 20;

  // Between two lambdas, both > 0; rounded inwards to the grid and to what may be a lambda at all.
  LambdaSearch(double low, double high, std::function<double(double)> loss);

  // From high to low every decade, then nearer and nearer to the best: about a dozen losses.
  void sweep();
  // From `start` on by parabolas: two or three losses, mostly. `curvature` is a guess, of a similar
  // problem. Where one more step promises less than 3e-4 of the loss, it ends; less than `unseen`,
  // it is taken without looking at its loss.
  void descend(int start, std::optional<double> curvature, double unseen);
  // The same for losses whose slope is known, d log(loss) / d log(lambda) where the last loss was taken:
  // one loss, mostly. `curvature` is a guess until there are two slopes.
  void follow(int start, double curvature, double unseen, const std::function<double()>& slope);

  bool found() const { return best_.has_value(); }       // false: no loss was a number
  int best() const { return unseen_.value_or(*best_); }  // its step
  int last() const { return last_; }                     // the step tried last
  double best_lambda() const;
  std::optional<double> curvature() const;  // second derivative of log(loss) a step, at the best
  void report(LambdaChoice& choice) const;  // lambda, and all whose loss was seen
  static double lambda_of(int step);
  static int step_of(double lambda);  // the nearest

 private:
  void attempt(int step);
  struct Move {
    double to;
    double promised;  // of the loss, on a logarithmic scale; 1 where nobody knows
  };
  std::optional<Move> next(std::optional<double> guess) const;

  int low_, high_;
  std::function<double(double)> loss_;
  std::map<int, double> tried_;  // step, log(loss); NaN: not usable
  std::optional<int> best_;
  std::optional<int> unseen_;             // the step that is better still, if a parabola is right
  std::optional<double> seen_curvature_;  // between the last two slopes
  int last_ = 0;
};

}  // namespace engram
