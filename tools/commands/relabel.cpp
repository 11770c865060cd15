#include <charconv>
#include <memory>
#include <string_view>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "tools/commands/commands.h"
#include "tools/console/terminal.h"
#include "tools/console/units.h"
#include "tools/edit_report.h"

namespace engram {
namespace {

constexpr std::int64_t kMostIds = 1'000'000;  // at once

struct RelabelOptions {
  std::vector<std::string> words;
  bool last = false;
};

Status not_ids(const std::string& text) {
  return Status(
      Code::invalid_argument,
      fmt::format("{}: is not a list of sample ids such as 7 or 3,5,8-12. `engram history` "
                  "lists them. Nothing was changed.",
                  printable(text)));
}

bool parse_number(std::string_view text, std::int64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && number > 0;
}

// "3,5,8-12"
Result<std::vector<std::int64_t>> parse_ids(const std::string& text) {
  std::vector<std::int64_t> ids;
  for (std::string_view rest = text;;) {
    const std::string_view part = rest.substr(0, rest.find(','));
    const std::size_t dash = part.find('-');
    std::int64_t first = 0, last = 0;
    if (!parse_number(part.substr(0, dash), first)) return not_ids(text);
    last = first;
    if (dash != part.npos && !parse_number(part.substr(dash + 1), last)) return not_ids(text);
    if (last < first || last - first >= kMostIds || std::ssize(ids) >= kMostIds) {
      return not_ids(text);
    }
    for (std::int64_t id = first; id <= last; ++id) ids.push_back(id);
    if (part.size() == rest.size()) return ids;
    rest.remove_prefix(part.size() + 1);
  }
}

Result<EditReport> relabel(Store& store, const RelabelOptions& options) {
  const std::string& label = options.words.back();
  if (!options.last) {
    ENGRAM_ASSIGN(std::vector<std::int64_t> ids, parse_ids(options.words.front()));
    return store.relabel(std::move(ids), label);
  }
  std::int64_t steps = 1;
  if (options.words.size() == 2 &&
      (!parse_number(options.words.front(), steps) || steps > 1'000'000'000)) {
    return Status(Code::invalid_argument,
                  fmt::format("{}: is not a number of steps. Nothing was changed.",
                              printable(options.words.front())));
  }
  return store.relabel_last(int(steps), label);
}

Result<int> run_relabel(const Session& session, const RelabelOptions& options) {
  const std::size_t wanted = options.last ? 1 : 2;
  if (options.words.size() < wanted || options.words.size() > 2) {
    return Status(Code::invalid_argument,
                  "say which samples, and what they show: engram relabel 7,8 LABEL, or engram "
                  "relabel --last LABEL. See engram relabel --help.");
  }
  ENGRAM_ASSIGN(Store store, open_to_edit(session));
  ENGRAM_ASSIGN(const EditReport report, relabel(store, options));
  const std::string& label = options.words.back();
  const std::string done = relabelled_text(report, label) + "\n";
  report_edit(session, store, report, done, {{"label", label}, {"relabelled", report.samples}});
  return 0;
}

}  // namespace

void add_relabel(CLI::App& app, Session& session) {
  const auto options = std::make_shared<RelabelOptions>();
  const Manual manual{
      .name = "relabel",
      .summary = "say what samples really show",
      .synopsis =
          "engram relabel ID[,ID...] LABEL\n"
          "engram relabel --last [N] LABEL",
      .description =
          "Gives samples another label, new or known: single ones by their ids (7 or 3,5,8-12, see "
          "`engram history`), or all of the last N steps (--last; N is 1 if left out). Afterwards "
          "the state is, to the bit, that of a learner which heard the right label at once. All "
          "samples of a class: `engram rename`.\n\n"
          "A state that holds sums only (--keep-features no) can relabel what "
          "was learned since its last snapshot; otherwise the command says why it cannot, and "
          "changes nothing.",
      .example =
          "$ engram relabel --last cup\n"
          "relabelled: 12 samples from mug to cup\n"
          "3 classes, 36 samples are left; lambda 100 (loo), ready to classify after 0.04 s"};
  CLI::App* command = add_command(app, session, manual,
                                  [&session, options] { return run_relabel(session, *options); });
  command->add_flag("--last", options->last, "The last N steps instead of ids");
  command->add_option("WORDS", options->words, "Ids (or with --last a number of steps), and LABEL");
}

}  // namespace engram
