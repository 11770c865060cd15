#include "engine/adapt_settings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

namespace engram {
namespace {

constexpr std::array kMethods{AdaptMethod::adaptformer, AdaptMethod::ssf, AdaptMethod::vpt};
constexpr std::array kHeadStarts{HeadStart::random, HeadStart::means};

// The one of `all` whose name this is. `kind`: what it is no name of.
template <class Word, std::size_t n>
Result<Word> parse_word(const std::string& text, const std::array<Word, n>& all, const char* kind) {
  std::string known;
  for (const Word word : all) {
    if (text == name(word)) return word;
    known += known.empty() ? name(word) : std::string(", ") + name(word);
  }
  return Status(Code::invalid_argument,
                fmt::format("\"{}\" is no {}; it can be one of: {}.", text, kind, known));
}

Status refuse(const char* what, const std::string& value, const std::string& allowed) {
  return Status(Code::invalid_argument,
                fmt::format("Phase 1: {} is {}; it must be {}.", what, value, allowed));
}

Status check_count(const char* what, int value, int least, int most) {
  if (value >= least && value <= most) return {};
  return refuse(what, std::to_string(value), fmt::format("from {} to {}", least, most));
}

// NaN is out of range too.
Status check_number(const char* what, double value, double least, double below) {
  if (value >= least && value < below) return {};
  return refuse(what, fmt::format("{}", value),
                fmt::format("at least {} and below {}", least, below));
}

}  // namespace

const char* name(AdaptMethod method) {
  switch (method) {
    case AdaptMethod::adaptformer:
      return "adaptformer";
    case AdaptMethod::ssf:
      return "ssf";
    case AdaptMethod::vpt:
      return "vpt";
  }
  return "?";
}

Result<AdaptMethod> parse_adapt_method(const std::string& text) {
  return parse_word(text, kMethods, "method of Phase 1");
}

const char* name(HeadStart start) {
  return start == HeadStart::means ? "means" : "random";
}

Result<HeadStart> parse_head_start(const std::string& text) {
  return parse_word(text, kHeadStarts, "start of a head");
}

Status check_adapt_settings(const AdaptSettings& settings, const VitShape& shape) {
  ENGRAM_TRY(check_count("the number of epochs", settings.epochs, 1, 10'000));
  ENGRAM_TRY(check_count("the batch", settings.batch, 1, 4096));
  ENGRAM_TRY(check_count("the micro-batch", settings.micro_batch, 0, settings.batch));
  ENGRAM_TRY(check_count("the rank of adapters", settings.rank, 1, 4096));
  ENGRAM_TRY(check_count("the number of prompts", settings.prompts, 1, 1024));
  ENGRAM_TRY(check_count("the number of recomputed blocks", settings.recomputed_blocks, -1,
                         std::max(shape.blocks - 2, 0)));
  ENGRAM_TRY(check_number("the learning rate", settings.learning_rate, 0, 1000));
  ENGRAM_TRY(check_number("the momentum", settings.momentum, 0, 1));
  ENGRAM_TRY(check_number("the weight decay", settings.weight_decay, 0, 1));
  ENGRAM_TRY(check_number("the scale of adapters", settings.branch_scale, -1000, 1000));
  ENGRAM_TRY(check_number("the noise at the start", settings.start_noise, 0, 10));
  ENGRAM_TRY(check_number("the dropout", settings.dropout, 0, 1));
  ENGRAM_TRY(check_number("the scale of the head", settings.head_scale, 0, 1000));
  return {};
}

double learning_rate_at(const AdaptSettings& settings, int epoch) {
  const double turn = std::numbers::pi * epoch / settings.epochs;
  return settings.learning_rate * (1 + std::cos(turn)) / 2;
}

}  // namespace engram
