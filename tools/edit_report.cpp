#include "tools/edit_report.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tools/console/progress.h"
#include "tools/console/terminal.h"
#include "tools/console/units.h"

namespace engram {
namespace {

using Json = nlohmann::ordered_json;

Json counts_json(const std::vector<ClassInfo>& classes) {
  Json counts = Json::object();
  for (const ClassInfo& info : classes) counts[info.label] = info.samples;
  return counts;
}

}  // namespace

Status check_owner(const std::string& state) {
  struct stat owner {};
  if (::geteuid() != 0 || ::stat(state.c_str(), &owner) != 0 || owner.st_uid == 0) return {};
  return Status(
      Code::not_supported,
      fmt::format("{}: it belongs to user {}, who could not open what root writes there. "
                  "Nothing was changed. Do it as that user; what the service has learned is "
                  "changed in its page or by its API (/api/forget, /api/undo, /api/import)",
                  printable(state), owner.st_uid));
}

Result<Store> open_to_edit(const Session& session) {
  const std::string& state = session.global.state;
  if (!Store::exists(state)) return no_state(state);
  ENGRAM_TRY(check_owner(state));
  const Progress progress(session.console.shows_progress(), "open");
  ENGRAM_ASSIGN(Store store, Store::open(state));
  if (!store.recovery_note().empty()) session.console.warn(store.recovery_note());
  return store;
}

std::string names_text(const std::vector<ClassInfo>& classes) {
  if (classes.size() == 1) return printable(classes[0].label);
  if (classes.size() == 2) {
    return printable(classes[0].label) + " and " + printable(classes[1].label);
  }
  return plural(std::ssize(classes), "class", "classes");
}

std::string undone_text(const Step& step) {
  return fmt::format("undone: {} {} ({})", step.is_merge ? "merge of" : "learn",
                     names_text(step.classes), plural(step.samples, "sample", "samples"));
}

std::string relabelled_text(const EditReport& report, const std::string& label) {
  return fmt::format("relabelled: {} from {} to {}", plural(report.samples, "sample", "samples"),
                     names_text(report.changed), printable(label));
}

std::string renamed_text(const EditReport& report, const std::string& from, const std::string& to) {
  return fmt::format("renamed: {} is called {} now ({})", printable(from), printable(to),
                     plural(report.samples, "sample", "samples"));
}

std::string forgotten_text(const EditReport& report, const std::string& label) {
  return fmt::format("forgotten: {} ({})", printable(label),
                     plural(report.samples, "sample", "samples"));
}

Json step_json(const Step& step) {
  return {{"first_id", step.first_id},
          {"last_id", step.last_id},
          {"samples", step.samples},
          {"classes", counts_json(step.classes)}};
}

void report_edit(const Session& session, const Store& store, const EditReport& report,
                 const std::string& done, Json more) {
  const Console& console = session.console;
  const Learner& learner = store.learner();
  console.note(done);
  std::string left = learner.samples() == 0
                         ? "nothing is left: the state is as new"
                         : fmt::format("{}, {} are left",
                                       plural(std::ssize(learner.classes()), "class", "classes"),
                                       plural(learner.samples(), "sample", "samples"));
  if (report.readout) {
    left += fmt::format("; lambda {:g} ({}), ready to classify after {}", report.readout->lambda,
                        report.readout->rule, duration_text(report.readout->seconds));
  }
  console.note(left + "\n");
  if (report.readout && !report.readout->note.empty()) console.note(report.readout->note + "\n");
  for (const std::string* note : {&report.note, &store.note()}) {
    if (!note->empty()) console.warn(*note);
  }
  Json answer{{"state", session.global.state}};
  answer.update(more);
  answer["touched"] = counts_json(report.changed);
  answer["gone"] = report.gone;
  answer["durable"] = true;
  answer["classes"] = learner.classes().size();
  answer["samples"] = learner.samples();
  answer["lambda"] = report.readout ? Json(report.readout->lambda) : Json();
  answer["rule"] = report.readout ? Json(report.readout->rule) : Json();
  answer["note"] = report.note;
  console.object(answer);
}

}  // namespace engram
