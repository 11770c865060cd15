// One question to a web server on this machine, which may be anything.
#include "tools/service/local_http.h"

#include <thread>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/support/catch.h"
#include "tests/support/says.h"

namespace engram {
namespace {

// Takes one connection, says `answer` and hangs up; keeps what it was asked.
class OneAnswer {
 public:
  explicit OneAnswer(std::string answer) {
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof at;
    REQUIRE(::bind(socket_, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0);
    REQUIRE(::listen(socket_, 1) == 0);
    REQUIRE(::getsockname(socket_, reinterpret_cast<sockaddr*>(&at), &length) == 0);
    port_ = ntohs(at.sin_port);
    thread_ = std::thread([this, answer = std::move(answer)] {
      const int client = ::accept(socket_, nullptr, nullptr);
      char bytes[4096];
      const ssize_t count = ::recv(client, bytes, sizeof bytes, 0);
      asked_.assign(bytes, count > 0 ? static_cast<std::size_t>(count) : 0);
      ::send(client, answer.data(), answer.size(), MSG_NOSIGNAL);
      ::close(client);
    });
  }
  ~OneAnswer() { ::close(socket_); }
  OneAnswer(const OneAnswer&) = delete;
  OneAnswer& operator=(const OneAnswer&) = delete;

  int port() const { return port_; }
  const std::string& asked() {
    thread_.join();
    return asked_;
  }

 private:
  int socket_ = -1, port_ = 0;
  std::string asked_;
  std::thread thread_;
};

}  // namespace

TEST_CASE("local_http: status and body", "[tools][http]") {
  OneAnswer server("HTTP/1.1 503 Busy\r\nContent-Type: text/plain\r\n\r\nno camera\n");
  const Result<LocalAnswer> answer = get_from_here(server.port(), "/health");
  REQUIRE(test::says(server.asked(), "GET /health HTTP/1.1\r\n"));
  REQUIRE(answer.ok());
  REQUIRE(answer.value().status == 503);
  REQUIRE(answer.value().body == "no camera\n");
}

TEST_CASE("local_http: not a web server, an endless one, nobody", "[tools][http]") {
  OneAnswer other("SSH-2.0-OpenSSH\r\n\r\n");
  const Status wrong = get_from_here(other.port(), "/health").status();
  other.asked();
  REQUIRE(test::says(wrong, "does not speak HTTP"));

  int port = 0;
  {
    OneAnswer endless("HTTP/1.1 200 OK\r\n\r\n" + std::string(1'000'000, 'x'));
    port = endless.port();
    const Result<LocalAnswer> much = get_from_here(port, "/");
    endless.asked();
    REQUIRE(much.ok());
    REQUIRE(much.value().body.size() < 100'000);
  }
  REQUIRE(get_from_here(port, "/").status().code() == Code::io_failure);  // it is gone
}

}  // namespace engram
