// Adding up states: which go together, and how samples, steps and audit trails of one go behind those of
// the other. Shared by merging into a new state (store_merge.h) and into an open one (state_file.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/learner.h"
#include "engine/store_files.h"
#include "engine/store_history.h"
#include "platform/status.h"

namespace engram {

// A state that was read whole, from a folder or an exported file.
struct AddedState {
  std::string name;  // its path
  Learner learner;
  StoreMark mark;
  History history;  // the trail ends with the entry that it was exported
};

// The state in a folder, read without a lock, or in an exported file (read_state_file). `device`: who
// reads the folder, for the trail. not_found: there is none.
Result<AddedState> read_added_state(const std::string& path, const std::string& device);

// Every state whose samples it holds, itself among them.
std::vector<std::uint64_t> origins_of(const StoreMark& mark, const History& history);

// Whether `next` may be added to a learner that holds the samples of `origins`. invalid_argument: they
// cannot be added up (each difference is named), or samples would count twice.
Status check_goes_with(const std::string& name, const Learner& learner,
                       const std::vector<std::uint64_t>& origins, const AddedState& next);
// The samples of `next` behind those of `learner`, as one step where all of them have rows, and its
// origins and trail. Sentences that
// the user should know are added to `notes`. After a failure the learner may hold a part of them.
Status add_up(const std::string& name, Learner& learner, History& history, const AddedState& next,
              std::vector<std::string>& notes);
// What is to be known of a learner after that: sums that are missing, or may have rounded.
void note_sums(const Learner& learner, std::vector<std::string>& notes);

}  // namespace engram
