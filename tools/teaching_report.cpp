#include "tools/teaching_report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tools/console/terminal.h"
#include "tools/console/units.h"

namespace engram {
namespace {

std::string label(const std::vector<ClassInfo>& classes, int index) {
  return printable(classes[std::size_t(index)].label);
}

// The first `limit` sentences, and how many there are beyond them.
void add_some(std::vector<std::string> sentences, std::size_t limit, const char* what,
              std::vector<std::string>& hints) {
  const std::size_t more = sentences.size() > limit ? sentences.size() - limit : 0;
  if (more > 0) sentences.resize(limit);
  hints.insert(hints.end(), sentences.begin(), sentences.end());
  if (more > 0) hints.push_back(fmt::format("... and {} more {}; --json lists all", more, what));
}

}  // namespace

std::vector<std::string> teaching_hints(const std::vector<ClassInfo>& classes,
                                        const Teaching& teaching, std::size_t limit) {
  std::vector<std::string> hints, sentences;
  for (const ConfusablePair& pair : teaching.report.confusable) {
    const std::string shown = label(classes, pair.shown);
    sentences.push_back(fmt::format("{} looks like {} ({} of {}): show {} {} more", shown,
                                    label(classes, pair.taken_for), pair.count, pair.judged, shown,
                                    pair.more));
  }
  add_some(std::move(sentences), limit, "pairs", hints);
  sentences.clear();
  for (std::size_t k = 0; k < teaching.report.classes.size(); ++k) {
    const ClassTeaching& taught = teaching.report.classes[k];
    if (!taught.too_few || taught.samples == 0) continue;
    sentences.push_back(
        fmt::format("{} has {}: show {} more to judge it", printable(classes[k].label),
                    plural(taught.samples, "sample", "samples"), kFewSamples - taught.samples));
  }
  add_some(std::move(sentences), limit, "small classes", hints);
  sentences.clear();
  for (const DuplicateSamples& pair : teaching.duplicates) {
    const std::string first = label(classes, pair.first_class);
    const bool same = pair.first_class == pair.second_class;
    sentences.push_back(fmt::format(
        "samples {} and {} of {} are nearly the same picture{}", pair.first, pair.second, first,
        same ? "" : ", taught also as " + label(classes, pair.second_class)));
  }
  add_some(std::move(sentences), limit, "near-duplicates", hints);
  return hints;
}

nlohmann::ordered_json confusable_json(const std::vector<ClassInfo>& classes,
                                       const Teaching& teaching) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ConfusablePair& pair : teaching.report.confusable) {
    list.push_back({{"label", classes[std::size_t(pair.shown)].label},
                    {"looks_like", classes[std::size_t(pair.taken_for)].label},
                    {"count", pair.count},
                    {"of", pair.judged},
                    {"show_more", pair.more}});
  }
  return list;
}

nlohmann::ordered_json duplicates_json(const std::vector<ClassInfo>& classes,
                                       const Teaching& teaching) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const DuplicateSamples& pair : teaching.duplicates) {
    list.push_back({{"samples", {pair.first, pair.second}},
                    {"labels",
                     {classes[std::size_t(pair.first_class)].label,
                      classes[std::size_t(pair.second_class)].label}},
                    {"similarity", pair.similarity}});
  }
  return list;
}

}  // namespace engram
