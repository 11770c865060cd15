// The words for the choices of a config, and back (engine/config.h).
#include <array>

#include <fmt/format.h>

#include "engine/config.h"

namespace engram {
namespace {

template <class Enum>
struct Named {
  Enum value;
  const char* name;
};
constexpr std::array kArithmetics{Named<Arithmetic>{Arithmetic::exact, "exact"},
                                  Named<Arithmetic>{Arithmetic::floating, "float"}};
constexpr std::array kWeights{Named<Weights>{Weights::bipolar, "bipolar"},
                              Named<Weights>{Weights::gaussian, "gaussian"}};
constexpr std::array kNonlinearities{Named<Nonlinearity>{Nonlinearity::relu, "relu"},
                                     Named<Nonlinearity>{Nonlinearity::square, "square"},
                                     Named<Nonlinearity>{Nonlinearity::none, "none"}};
constexpr std::array kLambdaRules{
    Named<LambdaRule>{LambdaRule::fixed, "fixed"}, Named<LambdaRule>{LambdaRule::paper, "paper"},
    Named<LambdaRule>{LambdaRule::code, "code"}, Named<LambdaRule>{LambdaRule::loo, "loo"},
    Named<LambdaRule>{LambdaRule::gcv, "gcv"}};
constexpr std::array kReadoutKinds{Named<ReadoutKind>{ReadoutKind::blend, "blend"},
                                   Named<ReadoutKind>{ReadoutKind::ridge, "ridge"},
                                   Named<ReadoutKind>{ReadoutKind::mean, "mean"},
                                   Named<ReadoutKind>{ReadoutKind::lda, "lda"},
                                   Named<ReadoutKind>{ReadoutKind::balanced, "balanced"}};

template <class Table, class Enum>
const char* name_in(const Table& table, Enum value) {
  for (const auto& entry : table) {
    if (entry.value == value) return entry.name;
  }
  return "?";
}

template <class Enum, std::size_t n>
Result<Enum> parse_in(const std::array<Named<Enum>, n>& table, const char* field,
                      const std::string& text) {
  std::string known;
  for (const auto& entry : table) {
    if (text == entry.name) return entry.value;
    known += known.empty() ? entry.name : std::string(", ") + entry.name;
  }
  return Status(Code::invalid_argument,
                fmt::format("{} is \"{}\"; it can be one of: {}.", field, text, known));
}

}  // namespace

const char* name(Arithmetic value) {
  return name_in(kArithmetics, value);
}
const char* name(Weights value) {
  return name_in(kWeights, value);
}
const char* name(Nonlinearity value) {
  return name_in(kNonlinearities, value);
}
const char* name(LambdaRule value) {
  return name_in(kLambdaRules, value);
}
const char* name(ReadoutKind value) {
  return name_in(kReadoutKinds, value);
}

Result<Arithmetic> parse_arithmetic(const std::string& text) {
  return parse_in(kArithmetics, "arithmetic", text);
}
Result<Weights> parse_weights(const std::string& text) {
  return parse_in(kWeights, "weights", text);
}
Result<Nonlinearity> parse_nonlinearity(const std::string& text) {
  return parse_in(kNonlinearities, "nonlinearity", text);
}
Result<LambdaRule> parse_lambda_rule(const std::string& text) {
  return parse_in(kLambdaRules, "lambda rule", text);
}
Result<ReadoutKind> parse_readout_kind(const std::string& text) {
  return parse_in(kReadoutKinds, "readout", text);
}

}  // namespace engram
