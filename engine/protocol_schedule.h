// Who comes when: the order of a protocol, apart from how it is run.
#pragma once

#include <string>
#include <vector>

#include "engine/protocol.h"
#include "platform/status.h"

namespace engram {

struct Schedule {
  std::vector<int> class_order;
  std::vector<int> task_sizes;          // classes that are new in each task
  std::vector<std::vector<int>> train;  // per task: training samples in the order of learning
  std::vector<int> group;               // per test sample: its column of R
  std::vector<int> tested_from;         // per group: the first task after which it is tested
  std::vector<std::string> groups;      // names of the columns; empty: they are tasks
  bool overall = false;                 // A_t is accuracy over all samples tested
  bool forgets = true;                  // group i is what task i taught, so that F_t makes sense
};

// `data` and `options` were checked by the caller. invalid_argument: tasks that cannot be made.
Result<Schedule> make_schedule(const ProtocolData& data, const ProtocolOptions& options);

}  // namespace engram
