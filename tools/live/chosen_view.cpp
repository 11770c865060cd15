#include "tools/live/chosen_view.h"

#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tools/console/console.h"

namespace engram {
namespace {

constexpr std::size_t kMostViewBytes = 1000;

std::string file_of(const std::string& directory) {
  return directory + "/view";
}

}  // namespace

Result<ChosenView> read_chosen_view(const std::string& directory) {
  ENGRAM_ASSIGN(const std::vector<std::byte> bytes, read_file(file_of(directory), kMostViewBytes));
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  const auto parsed = nlohmann::json::parse(text, text + bytes.size(), nullptr, false);
  const auto refused = [&] {
    return Status(Code::bad_data,
                  fmt::format("{}: is damaged, so all of the picture is looked at until mirror and "
                              "region are chosen again",
                              file_of(directory)));
  };
  if (!parsed.is_object() || !parsed.contains("mirror") || !parsed.contains("region")) {
    return refused();
  }
  const nlohmann::json &mirror = parsed["mirror"], &sides = parsed["region"];
  if (!mirror.is_boolean() || !sides.is_array() || sides.size() != 4) return refused();
  for (const nlohmann::json& side : sides) {
    if (!side.is_number_unsigned() || side.get<std::uint64_t>() > 1000) return refused();
  }
  const ChosenView view{mirror, {sides[0], sides[1], sides[2], sides[3]}};
  if (within(view.region) != view.region) return refused();
  return view;
}

Status keep_view(const std::string& directory, const ChosenView& view, FileSystem& files) {
  const Region& region = view.region;
  const std::string text =
      json_text({{"mirror", view.mirror},
                 {"region", {region.left, region.top, region.width, region.height}}});
  return replace_file(file_of(directory), std::as_bytes(std::span(text)), files);
}

}  // namespace engram
