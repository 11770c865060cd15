// What a person sees while a backbone adapts: what is about to be done, a bar with loss and time left,
// and a line for each epoch.
//
//   epoch   loss   right  held-out loss  held-out right    time        left
//       1  2.214  31.2 %          2.054          43.3 %    12 s  3 min 48 s
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/adapt_training.h"
#include "tools/adapt/adapt_run.h"
#include "tools/console/console.h"
#include "tools/console/progress.h"
#include "tools/console/table.h"

namespace engram {

class AdaptScreen {
 public:
  enum class Detail { bar, table };
  AdaptScreen(const Console& console, const AdaptSettings& settings, Detail detail);

  void begin(const AdaptRun& run);  // says what is about to be done; Detail::table
  void step(const AdaptStep& step);
  void epoch(const std::vector<AdaptEpoch>& curves);
  void end() { bar_.reset(); }  // wipes the bar

 private:
  double seconds_left(const AdaptStep& step) const;

  const Console& console_;
  int epochs_;
  Detail detail_;
  Table table_;
  std::unique_ptr<Progress> bar_;  // of one epoch
  double trained_seconds_ = 0;     // of steps and epochs seen
  double trained_epochs_ = 0;
};

// "-" where there is none.
std::string loss_text(double loss);
std::string right_text(double percent);  // "43.3 %"

}  // namespace engram
