#include "tools/console.h"

#include <cstdio>

#include <nlohmann/json.hpp>

#include "tools/exit_code.h"
#include "tools/terminal.h"

namespace engram {

void Console::configure(bool json, bool quiet) {
  json_ = json;
  quiet_ = quiet;
  colour_ = !json && wants_colour(stdout);
}

void Console::answer(const std::string& text) const {
  if (json_) return;
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

void Console::note(const std::string& text) const {
  if (!quiet_) answer(text);
}

void Console::object(const nlohmann::ordered_json& value) const {
  if (!json_) return;
  std::fputs((json_text(value) + "\n").c_str(), stdout);
  std::fflush(stdout);
}

void Console::warn(const std::string& text) const {
  const std::string word = paint("warning:", Style::yellow, wants_colour(stderr));
  std::fprintf(stderr, "%s %s\n", word.c_str(), text.c_str());
}

void Console::error(const Status& status) const {
  const std::string word = paint("error:", Style::red, wants_colour(stderr));
  std::fprintf(stderr, "%s %s\n", word.c_str(), status.what());
  object({{"error", status.what()}, {"code", exit_code(status.code())}});
}

std::string json_text(const nlohmann::ordered_json& value) {
  return value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace engram
