// The demo's words and pictures.
#pragma once

#include <memory>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "tools/console/console.h"
#include "tools/console/progress.h"
#include "tools/console/table.h"
#include "tools/demo_show.h"

namespace engram {

// Prints a row as soon as its round is over (not with --json).
class DemoTable {
 public:
  DemoTable(const Console& console, const DemoShow& show);
  void begin(const std::string& object);  // shows that it is being looked at
  void add(const DemoRound& round);

 private:
  const Console& console_;
  DemoShow show_;
  Table table_;
  std::unique_ptr<Progress> progress_;
};

struct DemoFiles {
  std::string plot, sheet;  // paths
};
Result<DemoFiles> write_demo_files(const DemoResult& result, const std::string& directory);

std::string demo_summary(const DemoResult& result, const DemoShow& show);  // plot and sentences
nlohmann::ordered_json demo_json(const DemoResult& result, const DemoShow& show);

}  // namespace engram
