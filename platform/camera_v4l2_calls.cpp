#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "platform/camera_v4l2.h"

namespace engram {
namespace {

class SystemCalls : public V4l2Calls {
 public:
  int open(const char* path) override {
    return ::open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  }
  void close(int device) override { ::close(device); }
  int control(int device, unsigned long request, void* argument) override {
    int result = 0;
    do {
      result = ::ioctl(device, request, argument);
    } while (result == -1 && errno == EINTR);
    return result;
  }
  void* map(int device, std::size_t bytes, std::int64_t offset) override {
    void* const address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, device,
                                 static_cast<off_t>(offset));
    return address == MAP_FAILED ? nullptr : address;
  }
  void unmap(void* address, std::size_t bytes) override { ::munmap(address, bytes); }
  Ready wait(int device, int milliseconds) override {
    pollfd asked{device, POLLIN, 0};
    const int ready = ::poll(&asked, 1, milliseconds);
    if (ready < 0) return errno == EINTR ? nothing : failed;
    if (ready == 0) return nothing;
    return (asked.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0 ? fault : frame;
  }
};

}  // namespace

V4l2Calls& system_v4l2() {
  static SystemCalls calls;
  return calls;
}

}  // namespace engram
