// Opening a node, and the sentences for what can go wrong with one.
#include "platform/camera_v4l2_device.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <vector>

#include <fmt/format.h>

namespace engram::v4l2 {
namespace {

constexpr std::uint32_t kMostFormats = 64;  // a driver that never says "no more" is not believed

std::vector<std::uint32_t> preference(const V4l2Request& request) {
  if (request.width * request.height > 640 * 480) {
    return {V4L2_PIX_FMT_MJPEG, V4L2_PIX_FMT_JPEG, V4L2_PIX_FMT_YUYV, V4L2_PIX_FMT_NV12};
  }
  return {V4L2_PIX_FMT_YUYV, V4L2_PIX_FMT_NV12, V4L2_PIX_FMT_MJPEG, V4L2_PIX_FMT_JPEG};
}

std::string letters(std::uint32_t code) {
  std::string text;
  for (int shift = 0; shift < 32; shift += 8) {
    const char c = static_cast<char>(code >> shift & 0x7f);
    text += c >= ' ' && c < 0x7f ? c : '?';
  }
  return text;
}

Status no_format(const Device& device, const std::vector<std::uint32_t>& offered) {
  std::string list;
  for (const std::uint32_t code : offered) list += (list.empty() ? "" : ", ") + letters(code);
  return {Code::not_supported,
          fmt::format("{}: gives pictures as {} only, and MJPEG, YUYV and NV12 are understood. A "
                      "Jetson's ribbon-cable camera, which looks like this, is csi://0",
                      device.path(), list.empty() ? "nothing at all" : list)};
}

}  // namespace

Status Device::failure(int error, const char* doing) const {
  switch (error) {
    case ENOENT:
      return {Code::not_found,
              fmt::format("{}: there is no such camera. Is it plugged in? `engram doctor` lists "
                          "those that are",
                          path_)};
    case ENODEV:
    case ENXIO:
      return {Code::io_failure, fmt::format("{}: the camera is gone (unplugged?)", path_)};
    case EACCES:
    case EPERM:
      return {Code::io_failure,
              fmt::format("{}: permission denied. Add yourself to the group video: "
                          "sudo usermod -aG video $USER, then log in again",
                          path_)};
    case EBUSY:
      return {Code::busy,
              fmt::format("{}: another program uses the camera; end that one first", path_)};
    case ENOSPC:
      return {Code::io_failure,
              fmt::format("{}: the USB connection is too slow for this size; ask for less, such as "
                          "?width=320&height=240&fps=15, or use another port",
                          path_)};
    case ENOTTY:
    case ENOSYS:  // qemu's, for calls that it does not know
    case EISDIR:
      return {Code::not_supported, fmt::format("{}: is not a camera", path_)};
    case ENOMEM:
      return {Code::out_of_memory, fmt::format("{}: not enough memory for its pictures", path_)};
    default:
      return {Code::io_failure, fmt::format("{}: {} failed: {}", path_, doing,
                                            std::generic_category().message(error))};
  }
}

Result<Device> Device::open(V4l2Calls& calls, const std::string& path) {
  const int number = calls.open(path.c_str());
  const int error = errno;
  Device device(calls, path, number);
  if (number < 0) return device.failure(error, "opening it");
  return device;
}

Result<v4l2_capability> capabilities(const Device& device) {
  v4l2_capability found{};
  if (device.control(VIDIOC_QUERYCAP, found) != 0) {
    const int error = errno;
    return device.failure(error == EINVAL ? ENOTTY : error, "asking what it is");
  }
  if ((found.capabilities & V4L2_CAP_DEVICE_CAPS) != 0) found.capabilities = found.device_caps;
  return found;
}

Result<v4l2_pix_format> agree_on_format(const Device& device, const V4l2Request& request) {
  std::vector<std::uint32_t> offered;
  v4l2_fmtdesc entry{};
  entry.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  for (; entry.index < kMostFormats && device.control(VIDIOC_ENUM_FMT, entry) == 0; ++entry.index) {
    offered.push_back(entry.pixelformat);
  }
  int error = 0;
  for (const std::uint32_t wanted : preference(request)) {
    if (std::find(offered.begin(), offered.end(), wanted) == offered.end()) continue;
    v4l2_format format{};
    format.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    format.fmt.pix.width = static_cast<std::uint32_t>(request.width);
    format.fmt.pix.height = static_cast<std::uint32_t>(request.height);
    format.fmt.pix.pixelformat = wanted;
    format.fmt.pix.field = V4L2_FIELD_ANY;
    format.fmt.pix.priv = V4L2_PIX_FMT_PRIV_MAGIC;  // then colours are told too
    if (device.control(VIDIOC_S_FMT, format) != 0) {
      error = errno;
    } else if (format.fmt.pix.pixelformat == wanted) {
      return format.fmt.pix;
    }
  }
  if (error != 0) return device.failure(error, "choosing a format");
  return no_format(device, offered);
}

}  // namespace engram::v4l2

namespace engram {

Result<V4l2Node> ask_v4l2(V4l2Calls& calls, const std::string& path) {
  ENGRAM_ASSIGN(const v4l2::Device device, v4l2::Device::open(calls, path));
  ENGRAM_ASSIGN(const v4l2_capability found, v4l2::capabilities(device));
  const auto* name = reinterpret_cast<const char*>(found.card);
  constexpr std::uint32_t kCapture = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_VIDEO_CAPTURE_MPLANE;
  return V4l2Node{std::string(name, ::strnlen(name, sizeof found.card)),
                  (found.capabilities & kCapture) != 0};
}

}  // namespace engram
