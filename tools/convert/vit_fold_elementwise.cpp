#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "platform/onnx_attribute.h"
#include "tools/convert/vit_fold.h"
#include "tools/convert/vit_moves_parts.h"

namespace engram {

namespace {

using Real = double (*)(const double*, std::size_t);
using Whole = std::int64_t (*)(const std::int64_t*, std::size_t);

std::int64_t wrapped(std::uint64_t value) {
  return static_cast<std::int64_t>(value);
}
std::uint64_t bits(std::int64_t value) {
  return static_cast<std::uint64_t>(value);
}

const std::map<std::string, Real>& reals() {
  using D = const double*;
  using N = std::size_t;
  static const std::map<std::string, Real> kReals{
      {"Add", [](D x, N) { return x[0] + x[1]; }},
      {"Sub", [](D x, N) { return x[0] - x[1]; }},
      {"Mul", [](D x, N) { return x[0] * x[1]; }},
      {"Div", [](D x, N) { return x[0] / x[1]; }},
      {"Pow", [](D x, N) { return std::pow(x[0], x[1]); }},
      {"Max", [](D x, N n) { return n == 1 ? x[0] : std::max(x[0], x[1]); }},
      {"Min", [](D x, N n) { return n == 1 ? x[0] : std::min(x[0], x[1]); }},
      {"Sqrt", [](D x, N) { return std::sqrt(x[0]); }},
      {"Reciprocal", [](D x, N) { return 1 / x[0]; }},
      {"Neg", [](D x, N) { return -x[0]; }},
      {"Abs", [](D x, N) { return std::fabs(x[0]); }},
      {"Exp", [](D x, N) { return std::exp(x[0]); }},
      {"Log", [](D x, N) { return std::log(x[0]); }},
      {"Sin", [](D x, N) { return std::sin(x[0]); }},
      {"Cos", [](D x, N) { return std::cos(x[0]); }},
      {"Erf", [](D x, N) { return std::erf(x[0]); }},
      {"Tanh", [](D x, N) { return std::tanh(x[0]); }},
      {"Sigmoid", [](D x, N) { return 1 / (1 + std::exp(-x[0])); }},
      {"Relu", [](D x, N) { return std::max(x[0], 0.0); }},
      {"Floor", [](D x, N) { return std::floor(x[0]); }},
      {"Ceil", [](D x, N) { return std::ceil(x[0]); }},
      {"Round", [](D x, N) { return std::nearbyint(x[0]); }},
  };
  return kReals;
}

const std::map<std::string, Whole>& wholes() {
  using I = const std::int64_t*;
  using N = std::size_t;
  static const std::map<std::string, Whole> kWholes{
      {"Add", [](I x, N) { return wrapped(bits(x[0]) + bits(x[1])); }},
      {"Sub", [](I x, N) { return wrapped(bits(x[0]) - bits(x[1])); }},
      {"Mul", [](I x, N) { return wrapped(bits(x[0]) * bits(x[1])); }},
      {"Div",
       [](I x, N) {
         if (x[1] == 0) return std::int64_t{0};
         return x[1] == -1 ? wrapped(-bits(x[0])) : x[0] / x[1];
       }},
      {"Mod",
       [](I x, N) {
         if (x[1] == 0 || x[1] == -1) return std::int64_t{0};
         const std::int64_t rest = x[0] % x[1];
         return rest != 0 && (rest < 0) != (x[1] < 0) ? rest + x[1] : rest;
       }},
      {"Max", [](I x, N n) { return n == 1 ? x[0] : std::max(x[0], x[1]); }},
      {"Min", [](I x, N n) { return n == 1 ? x[0] : std::min(x[0], x[1]); }},
      {"Neg", [](I x, N) { return wrapped(-bits(x[0])); }},
      {"Abs", [](I x, N) { return x[0] < 0 ? wrapped(-bits(x[0])) : x[0]; }},
      {"Not", [](I x, N) { return std::int64_t{x[0] == 0}; }},
      {"And", [](I x, N) { return std::int64_t{x[0] != 0 && x[1] != 0}; }},
      {"Or", [](I x, N) { return std::int64_t{x[0] != 0 || x[1] != 0}; }},
  };
  return kWholes;
}

const std::map<std::string, bool (*)(double, double)>& comparisons() {
  static const std::map<std::string, bool (*)(double, double)> kComparisons{
      {"Equal", [](double a, double b) { return a == b; }},
      {"Greater", [](double a, double b) { return a > b; }},
      {"GreaterOrEqual", [](double a, double b) { return a >= b; }},
      {"Less", [](double a, double b) { return a < b; }},
      {"LessOrEqual", [](double a, double b) { return a <= b; }},
  };
  return kComparisons;
}

// Where each value of a broadcast result comes from.
Result<std::vector<std::int32_t>> spread(const OnnxNode& node, const Dims& from, const Dims& to) {
  Movement move = all_axes(from);
  move.axes.insert(move.axes.begin(), to.size() - from.size(), {0});
  for (std::size_t i = 0; i < to.size(); ++i) {
    auto& axis = move.axes[i];
    if (axis.size() == 1) axis.assign(static_cast<std::size_t>(to[i]), axis[0]);
    if (std::ssize(axis) != to[i]) return odd_move(node, "does not fit its input");
  }
  return move.sources();
}

}  // namespace

bool is_elementwise(const std::string& operation) {
  return reals().count(operation) + wholes().count(operation) + comparisons().count(operation) !=
             0 ||
         operation == "Where" || operation == "IsNaN";
}

double elementwise(const std::string& operation, const double* in, std::size_t count) {
  const auto found = reals().find(operation);
  const bool two = operation == "Add" || operation == "Sub" || operation == "Mul" ||
                   operation == "Div" || operation == "Pow";
  if (found == reals().end() || count == 0 || count > 2 || (two && count != 2)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return found->second(in, count);
}

Result<FoldedTensor> fold_elementwise(const OnnxNode& node,
                                      const std::vector<ConstantTensor>& inputs,
                                      WorkBudget& budget) {
  const std::string& kind = node.operation;
  const bool where = kind == "Where";
  const std::size_t most = where ? 3 : 2;
  if (inputs.empty() || inputs.size() > most || (where && inputs.size() != 3)) {
    return odd_move(node, "has a number of inputs that is not known here");
  }
  FoldedTensor result;
  bool all_whole = true;
  for (const ConstantTensor& input : inputs) {
    if (!input) return odd_move(node, "leaves out an input");
    ENGRAM_ASSIGN(result.dims, broadcast(result.dims, input->dims));
    all_whole = all_whole && input->whole;
  }
  if (where) all_whole = inputs[1]->whole && inputs[2]->whole;
  const std::int64_t count = value_count(result.dims);
  ENGRAM_TRY(budget.take(count < 0 ? -1 : count * 4));
  std::vector<std::vector<std::int32_t>> from;
  for (const ConstantTensor& input : inputs) {
    ENGRAM_ASSIGN(auto places, spread(node, input->dims, result.dims));
    from.push_back(std::move(places));
  }
  const auto compare = comparisons().find(kind);
  const auto whole = wholes().find(kind);
  const auto real = reals().find(kind);
  result.whole = compare != comparisons().end() || kind == "IsNaN" ||
                 (all_whole && (where || whole != wholes().end()));
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    double x[3] = {};  // an input that the file forgot is 0
    std::int64_t n[3] = {};
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      const auto at = static_cast<std::size_t>(from[k][i]);
      x[k] = inputs[k]->at(at);
      n[k] = inputs[k]->whole ? inputs[k]->wholes[at] : 0;
    }
    if (where) {
      const int chosen = x[0] != 0 ? 1 : 2;
      if (result.whole) result.wholes.push_back(n[chosen]);
      if (!result.whole) result.reals.push_back(static_cast<float>(x[chosen]));
    } else if (compare != comparisons().end()) {
      result.wholes.push_back(compare->second(x[0], x[1]));
    } else if (kind == "IsNaN") {
      result.wholes.push_back(std::isnan(x[0]));
    } else if (result.whole) {
      result.wholes.push_back(whole->second(n, inputs.size()));
    } else if (real != reals().end()) {
      result.reals.push_back(static_cast<float>(real->second(x, inputs.size())));
    } else {
      return odd_move(node, "of such constants is not known here");
    }
  }
  return result;
}

}  // namespace engram
