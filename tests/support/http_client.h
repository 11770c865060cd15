// A client on loopback that sends any bytes, good and bad, and never waits for more than 10 s.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

namespace engram::test {

class HttpClient {
 public:
  explicit HttpClient(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval patience{10, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<unsigned short>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
  }
  HttpClient(HttpClient&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)), connected_(other.connected_) {}
  HttpClient(const HttpClient&) = delete;
  ~HttpClient() { close(); }

  bool connected() const { return connected_; }
  void close() {
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  }
  void end_sending() { ::shutdown(socket_, SHUT_WR); }

  // False once the server does not take it any more.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return false;
      bytes.remove_prefix(std::size_t(count));
    }
    return true;
  }

  // What comes next, "" at the end. ended() tells an end from 10 s of silence.
  std::string receive() {
    if (!ahead_.empty()) return std::exchange(ahead_, {});
    char buffer[4096];
    const ssize_t count = ::recv(socket_, buffer, sizeof buffer, 0);
    ended_ = count == 0 || (count < 0 && errno != EAGAIN);
    return std::string(buffer, count > 0 ? std::size_t(count) : 0);
  }
  bool ended() const { return ended_; }

  std::string receive_until(std::string_view mark) {
    std::string all;
    while (all.find(mark) == std::string::npos) {
      const std::string more = receive();
      if (more.empty()) break;
      all += more;
    }
    return all;
  }

  std::string receive_all() {
    std::string all;
    for (std::string more = receive(); !more.empty(); more = receive()) all += more;
    return all;
  }

  // Head and body of one answer with a Content-Length. What came after it is received next.
  std::string receive_answer() {
    std::string all = receive_until("\r\n\r\n");
    const std::size_t head = all.find("\r\n\r\n");
    const std::size_t at = all.find("Content-Length: ");
    if (head == std::string::npos || at == std::string::npos || at > head) return all;
    const std::size_t size = head + 4 + std::strtoul(all.c_str() + at + 16, nullptr, 10);
    while (all.size() < size) {
      const std::string more = receive();
      if (more.empty()) return all;
      all += more;
    }
    ahead_ = all.substr(size);
    return all.substr(0, size);
  }

 private:
  int socket_;
  std::string ahead_;
  bool connected_ = false, ended_ = false;
};

// Sends, ends the connection's own half, and gives back all that the server says.
inline std::string ask(int port, std::string_view bytes) {
  HttpClient client(port);
  client.send(bytes);
  client.end_sending();
  return client.receive_all();
}

}  // namespace engram::test
