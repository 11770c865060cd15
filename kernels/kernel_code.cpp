#include "kernels/kernel_code.h"

#include <map>
#include <utility>

#include <nlohmann/json.hpp>

namespace engram {

extern const char* const kBudgetJson;  // kernels/budget.json: see toolchains/kernels.cmake

namespace {

using Json = nlohmann::json;

double number(const Json& counts, const char* name) {
  return counts.value(name, 0.0);
}

InstructionCounts counts_of(const Json& code, const char* part) {
  InstructionCounts result;
  if (!code.contains(part)) return result;
  const Json& counts = code.at(part);
  result.issued = number(counts, "issued");
  result.tensor = number(counts, "tensor");
  result.floats = number(counts, "float");
  result.multiply = number(counts, "multiply");
  result.integer = number(counts, "integer");
  result.convert = number(counts, "convert");
  result.doubles = number(counts, "double");
  for (const char* kind : {"load_global", "store_global", "load_shared", "store_shared"}) {
    result.moved_bytes += number(counts, (std::string(kind) + "_bytes").c_str());
  }
  if (code.contains("primary")) {
    result.primary = number(counts, code.at("primary").get<std::string>().c_str());
  }
  return result;
}

using Codes = std::map<std::pair<std::string, std::string>, KernelCode>;

Codes read_codes() {
  Codes codes;
  const Json budget = Json::parse(kBudgetJson);
  for (const auto& [kernel, targets] : budget.at("kernels").items()) {
    for (const auto& [target, code] : targets.items()) {
      codes[{kernel, target}] = {.threads = code.at("threads"),
                                 .occupancy = code.at("occupancy"),
                                 .once = counts_of(code, "once"),
                                 .around = counts_of(code, "around"),
                                 .main = counts_of(code, "main")};
    }
  }
  return codes;
}

const Codes& all_codes() {
  static const Codes codes = read_codes();
  return codes;
}

}  // namespace

InstructionCounts& InstructionCounts::add(const InstructionCounts& other, double times) {
  issued += times * other.issued;
  tensor += times * other.tensor;
  floats += times * other.floats;
  multiply += times * other.multiply;
  integer += times * other.integer;
  convert += times * other.convert;
  doubles += times * other.doubles;
  moved_bytes += times * other.moved_bytes;
  primary += times * other.primary;
  return *this;
}

std::vector<std::string> compiled_kernels() {
  std::vector<std::string> names;
  for (const auto& one : all_codes()) {
    if (names.empty() || names.back() != one.first.first) names.push_back(one.first.first);
  }
  return names;
}

const KernelCode* kernel_code(const std::string& kernel, const std::string& target) {
  const auto found = all_codes().find({kernel, target});
  return found == all_codes().end() ? nullptr : &found->second;
}

}  // namespace engram
