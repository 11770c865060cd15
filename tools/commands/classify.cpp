#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "engine/recogniser.h"
#include "tools/commands/commands.h"
#include "tools/commands/options.h"
#include "tools/console/progress.h"
#include "tools/console/terminal.h"
#include "tools/console/units.h"
#include "tools/exit_code.h"
#include "tools/features/finite_features.h"
#include "tools/pictures/picture_stream.h"
#include "tools/pictures/tree.h"

namespace engram {
namespace {

struct ClassifyOptions {
  std::vector<std::string> files;
  int top = 1;
  double false_alarm = 5;  // in %
  std::optional<std::string> readout;
};

// "desk.jpg  mug  0.94  97 %", or "desk.jpg  unknown, closest: mug  0.31   4 %", without a percentage where
// it would be one of the classes among themselves.
std::string answer_line(const std::string& file, const std::vector<Answer>& answers, int columns,
                        int label_columns, bool colour) {
  std::string line = pad(printable(file), columns) + "  ";
  if (answers[0].unknown) line += paint("unknown", Style::bold, colour) + ", closest: ";
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const bool answer = i == 0 && !answers[0].unknown;
    const std::string label = pad(printable(answers[i].label), label_columns);
    line += (i > 0 ? "  " : "") + paint(label, answer ? Style::bold : Style::dim, colour) +
            fmt::format(" {:5.2f}", answers[i].score);
    if (!answers[0].unknown || answers[0].known) {
      line += fmt::format(" {:3.0f} %", 100 * answers[i].probability);
    }
  }
  return line + "\n";
}

nlohmann::ordered_json answer_object(const std::string& file, const std::vector<Answer>& answers) {
  nlohmann::ordered_json top = nlohmann::ordered_json::array();
  nlohmann::ordered_json probabilities = nlohmann::ordered_json::array();
  for (const Answer& one : answers) {
    top.push_back({one.label, one.score});
    probabilities.push_back(one.probability);
  }
  nlohmann::ordered_json novelty;  // null
  if (answers[0].known) novelty = 1 - *answers[0].known;
  return {{"file", file},
          {"label", answers[0].label},
          {"score", answers[0].score},
          {"probability", answers[0].probability},
          {"unknown", answers[0].unknown},
          {"novelty", novelty},
          {"top", top},
          {"top_probabilities", probabilities}};
}

Result<int> run_classify(const Session& session, const ClassifyOptions& options) {
  const Console& console = session.console;
  std::optional<ReadoutKind> readout;
  if (options.readout) {
    ENGRAM_ASSIGN(readout, parse_readout_kind(*options.readout));
  }
  ENGRAM_ASSIGN(const Inputs inputs, expand_inputs(options.files));
  const std::vector<std::string>& files = inputs.files;
  Result<Recogniser> opened = [&] {
    const Progress progress(console.shows_progress(), "open");
    return Recogniser::open({.state = session.global.state,
                             .home = session.global.home,
                             .model = session.global.model,
                             .access = Recogniser::Access::read,
                             .threads = session.global.threads,
                             .batch = std::min<int>(kPicturesPerBatch, std::ssize(files)),
                             .readout = readout,
                             .config = {}});
  }();
  if (!opened.ok() && !Store::exists(session.global.state)) return no_state(session.global.state);
  ENGRAM_ASSIGN(Recogniser recogniser, std::move(opened));

  if (const std::string why = recogniser.extractor().note(); !why.empty()) console.warn(why);

  int columns = 0, label_columns = 0;
  for (const std::string& file : files) columns = std::max(columns, display_width(printable(file)));
  for (const std::string& label : recogniser.classes()) {
    label_columns = std::max(label_columns, display_width(printable(label)));
  }
  // Of a batch, printed behind it: before, a bar may be on the screen.
  std::string text;
  std::vector<nlohmann::ordered_json> objects;
  const auto answer = [&](std::span<const std::size_t> indices,
                          std::span<const Image> pictures) -> Status {
    ENGRAM_ASSIGN(const auto answers,
                  recogniser.classify(pictures, options.top, options.false_alarm / 100));
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const std::string& file = files[indices[i]];
      text += answer_line(file, answers[i], columns, label_columns, console.colour());
      objects.push_back(answer_object(file, answers[i]));
    }
    return {};
  };
  const auto classify = [&](std::span<const std::size_t> indices, std::span<const Image> pictures,
                            std::vector<SkippedPicture>& skipped) {
    return take_finite(recogniser.extractor(), files, indices, pictures, skipped, answer);
  };
  const auto say = [&] {
    console.answer(text);
    for (const nlohmann::ordered_json& object : objects) console.object(object);
    text.clear();
    objects.clear();
  };
  for (const SkippedPicture& one : inputs.skipped) console.warn(one.why.what());
  ENGRAM_ASSIGN(std::vector<SkippedPicture> skipped,
                stream_pictures(files, "classify", console, classify, say));
  const bool nothing_said = skipped.size() == files.size();
  skipped.insert(skipped.end(), inputs.skipped.begin(), inputs.skipped.end());
  for (const SkippedPicture& one : skipped) {
    console.object(
        {{"file", one.path}, {"error", one.why.what()}, {"code", exit_code(one.why.code())}});
  }
  if (nothing_said) return exit_code(skipped.front().why.code());
  log_skipped(console, std::ssize(skipped), "answered");
  return skipped.empty() ? 0 : kExitSomeSkipped;
}

}  // namespace

void add_classify(CLI::App& app, Session& session) {
  const auto options = std::make_shared<ClassifyOptions>();
  const Manual manual{
      .name = "classify",
      .summary = "say what pictures show",
      .synopsis = "engram classify FILES... [--top N] [--false-alarm PERCENT] [--readout KIND]",
      .description =
          "Prints for each picture (JPEG, PNG; folders are searched) the best labels with their "
          "scores (about 1 is sure, about 0 is none) and their probabilities. \"unknown\" means "
          "that "
          "the picture probably shows none of the classes; the closest one follows. How readily it "
          "is said is set by --false-alarm: so many of 100 pictures of known things may be called "
          "unknown. Both are learned from the samples themselves: with few samples fewer false "
          "alarms come than asked for. Opens the state for reading only, so it works "
          "while another process learns. --readout answers in another way from the same state, "
          "solved when asked: blend (ridge regression and nearest class means, what states answer "
          "with), ridge, mean, lda (linear discriminant), balanced (ridge regression in which all "
          "classes weigh the same). With --json one line per picture; novelty is the "
          "probability that it is none of the classes; null where too little was taught to say.",
      .example =
          "$ engram classify desk.jpg --top 2\n"
          "desk.jpg  mug     0.94  97 %  kettle  0.08   1 %"};
  CLI::App* command = add_command(app, session, manual,
                                  [&session, options] { return run_classify(session, *options); });
  command->add_option("FILES", options->files, "Pictures, or folders of pictures")->required();
  command
      ->add_option("--readout", options->readout,
                   "blend, ridge, mean, lda or balanced (default: the state's own)")
      ->type_name("KIND");
  command->add_option("--top", options->top, "How many labels to print (default 1)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  command
      ->add_option("--false-alarm", options->false_alarm,
                   "Known things that may be called unknown, in % (default 5)")
      ->type_name("PERCENT")
      ->check(between(0.0, 100.0));
}

}  // namespace engram
