// GCV (engine/gcv.h) as a function of lambda, from one factor and a few solves with it.
//
// A few Lanczos steps with S = (G + lambda0 I)^-1 from start vectors v give Gauss quadratures: nodes
// d and weights w with vT f(G) v = sum of w f(d), for every function f at once, so that GCV is known
// on a fine grid for nothing. With steps s and r = lambda / lambda0 or its inverse their error falls as
// p^-2s, p = x + sqrt(x^2 - 1), x = 1 + 2 / (r - 1): three steps leave 1e-4 up to r = 2, five up to 4,
// eight up to 10.
//     start vectors   for RSS the rows of C (above 128 of them: 128 random sums of rows);
//                     for df 24 random vectors of +-1 (64 below M 2 000), or all unit vectors up to M 512
// Random means seeded: the same for the same G, C and N. Classes are taken in an order of their own
// sums, not in that in which they were learned.
//
// N - df = N - M + tr(lambda (G + lambda I)^-1) is measured by the random vectors, and while N < M it is
// a small difference: what they say of the M - N empty directions varies by more than they say of the
// others. But one trace is known exactly from the factor's diagonal, that of log(I + G / lambda0). So the
// function lambda / (d + lambda) is fitted by a + b log(1 + d / lambda0), whose trace is known, and
// the vectors only measure the remainder. Where even that leaves too much, the trace of S can be given.
//
// Numerics. Float solves, everything else in double.
#pragma once

#include <vector>

#include "engine/lanczos.h"
#include "kernels/chosen_kernels.h"
#include "platform/arena.h"
#include "platform/matrix_view.h"
#include "platform/status.h"

namespace engram {

struct GcvProblem;

// Rows of C by their content, so that the order in which classes came is forgotten.
std::vector<int> classes_by_content(MatrixView<const float> sums);

// Start vectors, those of classes first, with room for Lanczos steps from them: memory for a problem
// and for its parts of fewer hidden units.
class GcvStarts {
 public:
  static Result<GcvStarts> create(const GcvProblem& largest);
  // How many, of which there is room for three times: for so many classes and hidden units.
  static int vectors(int classes, int units);

  // Steps with the factor at lambda0 that is in the problem's gram. order: classes_by_content of all
  // hidden units.
  ShiftedLanczos begin(const GcvProblem& problem, const std::vector<int>& order,
                       double lambda0) const;
  int classes() const { return classes_; }
  int probes() const { return probes_; }
  bool exact() const { return exact_; }  // all unit vectors instead of random ones

 private:
  Arena memory_ = Arena::empty();
  float* vectors_ = nullptr;
  float* scratch_ = nullptr;
  int classes_ = 0, probes_ = 0;
  bool exact_ = false;
};

class GcvCurve {
 public:
  // From the steps so far.
  static Result<GcvCurve> create(const GcvProblem& problem, double lambda0, const GcvStarts& starts,
                                 const ShiftedLanczos& lanczos);

  // kNoLoss: lambda is too small to tell.
  double loss(double lambda) const;
  // What the random vectors leave of the loss at lambda0: standard error, as a part of it.
  double uncertainty() const;
  // `inverse_trace`: of (G + lambda0 I)^-1. From here on they only tell how other lambdas differ.
  void correct_freedom(double inverse_trace);

 private:
  GcvCurve(const GcvProblem& problem, double lambda0, const GcvStarts& starts,
           std::vector<Quadrature> classes, const std::vector<Quadrature>& probes);
  double left(double freedom) const;
  double residual_freedom(double lambda) const;

  struct Node {
    double value, weight, log;  // the weights of all probes add up to M; log(1 + value / lambda0)
  };
  // a + b log(1 + d / lambda0) nearest to lambda / (d + lambda) on the nodes, and what it leaves.
  struct Fit {
    double mean, slope, remainder;  // of the function; b; mean square
  };
  Fit fit(double lambda) const;

  double lambda0_, samples_;
  int units_, classes_, class_vectors_, probe_vectors_;
  std::vector<Quadrature> class_rules_;
  std::vector<Node> nodes_;
  bool exact_;
  double mean_log_ = 0;    // of the nodes
  double log_excess_ = 0;  // the exact trace of the logarithm less what the probes say
  double correction_ = 0;
};

// tr((UT U)^-1) of the factor that is there: as dear as the factor.
Result<double> inverse_trace(const GcvProblem& problem);

}  // namespace engram
