// What `engram evaluate` found, for people, for programs and as a picture.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "engine/protocol.h"

namespace engram {

struct HeadResult {
  std::string name;  // as the user asked for it: "exact", "float", "ncm"
  ProtocolResult result;
};

struct Evaluation {
  std::string model;
  std::string train, test;  // folders
  std::vector<std::string> classes;
  std::int64_t train_pictures = 0, test_pictures = 0, skipped = 0;
  int features = 0;  // L
  int hidden = 0;    // M of the heads that project
  std::uint32_t class_seed = 0;
  double extract_seconds = 0;
  std::int64_t peak_bytes = 0;
  std::vector<HeadResult> heads;
};

std::string evaluation_text(const Evaluation& evaluation);
nlohmann::ordered_json evaluation_json(const Evaluation& evaluation);
std::string evaluation_svg(const Evaluation& evaluation);

}  // namespace engram
