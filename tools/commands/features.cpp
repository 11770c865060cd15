#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "platform/file.h"
#include "tools/commands/commands.h"
#include "tools/console/progress.h"
#include "tools/console/terminal.h"
#include "tools/console/units.h"
#include "tools/exit_code.h"
#include "tools/features/npy.h"
#include "tools/open_model.h"
#include "tools/pictures/picture_stream.h"
#include "tools/pictures/tree.h"

namespace engram {
namespace {

struct FeaturesOptions {
  std::string tree, labels, prefix;
};

Status write_lines(const std::string& path, const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return replace_file(path, std::as_bytes(std::span(text)));
}

Result<int> run_features(const Session& session, const FeaturesOptions& options) {
  const Console& console = session.console;
  ENGRAM_ASSIGN(const Tree tree, read_labelled(options.tree, options.labels));
  for (const SkippedPicture& one : tree.skipped) console.warn(one.why.what());
  ENGRAM_ASSIGN(FeatureExtractor extractor, open_model(session.global));
  ENGRAM_ASSIGN(FeatureTable table, read_features(extractor, tree.paths(), "features", console));
  table.skipped.insert(table.skipped.begin(), tree.skipped.begin(), tree.skipped.end());

  const std::vector<std::string> classes = tree.labels();
  std::vector<std::int32_t> y;
  std::vector<std::string> paths;
  for (const std::size_t index : table.indices) {
    const auto found = std::find(classes.begin(), classes.end(), tree.items[index].label);
    y.push_back(static_cast<std::int32_t>(found - classes.begin()));
    paths.push_back(tree.items[index].path);
  }
  ENGRAM_TRY(write_npy(options.prefix + "_x.npy", table.view()));
  ENGRAM_TRY(write_npy(options.prefix + "_y.npy", y));
  ENGRAM_TRY(write_lines(options.prefix + "_classes.txt", classes));
  ENGRAM_TRY(write_lines(options.prefix + "_paths.txt", paths));

  log_skipped(console, std::ssize(table.skipped), "written");
  console.note(
      fmt::format("{} of {} values, {}, in {}: {}_x.npy, _y.npy, _classes.txt, _paths.txt\n",
                  plural(std::ssize(y), "vector", "vectors"), table.width,
                  plural(std::ssize(classes), "class", "classes"), duration_text(table.seconds),
                  printable(options.prefix)));
  console.object({{"prefix", options.prefix},
                  {"model", extractor.card().name},
                  {"pictures", y.size()},
                  {"features", table.width},
                  {"classes", classes.size()},
                  {"skipped", skipped_json(table.skipped)},
                  {"seconds", table.seconds}});
  return table.skipped.empty() ? 0 : kExitSomeSkipped;
}

}  // namespace

void add_features(CLI::App& app, Session& session) {
  const auto options = std::make_shared<FeaturesOptions>();
  const Manual manual{
      .name = "features",
      .summary = "write the backbone's features of pictures for NumPy",
      .synopsis = "engram features --tree DIR -o PREFIX",
      .description =
          "For those who check our figures with tools of their own. Writes PREFIX_x.npy (pictures, "
          "L) float32, PREFIX_y.npy int32, PREFIX_classes.txt (line i is class i) and "
          "PREFIX_paths.txt (line i is row i). No state is touched.",
      .example =
          "engram features --tree photos -o photos\n"
          "python3 -c \"import numpy; print(numpy.load('photos_x.npy').shape)\""};
  CLI::App* command = add_command(app, session, manual,
                                  [&session, options] { return run_features(session, *options); });
  auto* tree = command->add_option("--tree", options->tree, "A folder per label")->type_name("DIR");
  command->add_option("--labels", options->labels, "A file of lines \"path<TAB>label\"")
      ->type_name("FILE")
      ->excludes(tree);
  command->add_option("-o,--output", options->prefix, "Where to write, without the ending")
      ->type_name("PREFIX")
      ->required();
}

}  // namespace engram
