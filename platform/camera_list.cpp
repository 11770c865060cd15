#include "platform/camera_list.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>

#include "platform/camera_v4l2.h"

namespace engram {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kPrefix = "video";

// The number of a node's name, or -1: video10 comes behind video2.
int number_of(const std::string& file) {
  int number = -1;
  if (file.rfind(kPrefix, 0) != 0) return -1;
  const char* const end = file.data() + file.size();
  const auto [stopped, error] = std::from_chars(file.data() + kPrefix.size(), end, number);
  return error == std::errc() && stopped == end ? number : -1;
}

CameraNode look_at(const std::string& root, const std::string& file) {
  CameraNode node;
  node.path = "/dev/" + file;
  std::ifstream name(root + "/sys/class/video4linux/" + file + "/name");
  std::getline(name, node.name);
  const Result<V4l2Node> asked = ask_v4l2(system_v4l2(), root + node.path);
  if (!asked.ok()) {
    node.why = asked.status().what();
    return node;
  }
  node.use = asked->is_capture ? CameraNode::Use::capture : CameraNode::Use::other;
  if (node.name.empty()) node.name = asked->name;
  return node;
}

}  // namespace

std::vector<CameraNode> list_cameras(const std::string& root) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root + "/dev", error)) {
    const std::string file = entry.path().filename().string();
    if (number_of(file) >= 0) files.push_back(file);
  }
  std::sort(files.begin(), files.end(),
            [](const std::string& a, const std::string& b) { return number_of(a) < number_of(b); });
  std::vector<CameraNode> nodes;
  for (const std::string& file : files) nodes.push_back(look_at(root, file));
  return nodes;
}

}  // namespace engram
