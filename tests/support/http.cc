#include "tests/support/http.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cctype>
#include <charconv>
#include <chrono>
#include <stdexcept>

namespace pareto::test {
namespace {

constexpr std::chrono::seconds kPatience{60};

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

}  // namespace

RawConnection::RawConnection(const std::string& address) {
  const sockaddr_in peer = loopback(std::stoi(address.substr(address.rfind(':') + 1)));
  fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(fd_, reinterpret_cast<const sockaddr*>(&peer), sizeof peer) != 0) {
    ::close(fd_);
    throw std::runtime_error("nobody listens on " + address);
  }
}

RawConnection::~RawConnection() { ::close(fd_); }

bool RawConnection::send(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void RawConnection::end_sending() const { ::shutdown(fd_, SHUT_WR); }

std::string RawConnection::read_to_end() const {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  std::string all;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd watched{fd_, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&watched, 1, static_cast<int>(left.count())) <= 0) {
      return all + " (cut off)";
    }
    char buffer[16384];
    const ssize_t size = ::recv(fd_, buffer, sizeof buffer, 0);
    if (size <= 0) return all;
    all.append(buffer, static_cast<std::size_t>(size));
  }
}

HttpResult parse_http(const std::string& answer) {
  HttpResult result;
  const std::size_t end = answer.find("\r\n\r\n");
  constexpr std::string_view kStart = "HTTP/1.x ";
  if (end == std::string::npos || !answer.starts_with("HTTP/1.")) return result;
  std::from_chars(answer.data() + kStart.size(), answer.data() + end, result.status);
  result.head = answer.substr(0, end);
  result.body = answer.substr(end + 4);
  return result;
}

HttpResult http_get(const std::string& address, const std::string& path) {
  try {
    const RawConnection connection(address);
    // By 1.1 a server may answer in chunks.
    connection.send("GET " + path + " HTTP/1.0\r\nHost: " + address + "\r\n\r\n");
    return parse_http(connection.read_to_end());
  } catch (const std::runtime_error&) {
    return {};
  }
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) {
      encoded += c;
    } else {
      encoded += {'%', kDigits[byte / 16], kDigits[byte % 16]};
    }
  }
  return encoded;
}

std::uint16_t free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  const bool bound = ::bind(fd, reinterpret_cast<const sockaddr*>(&address), size) == 0 &&
                     ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  ::close(fd);
  if (!bound) throw std::runtime_error("no free port");
  return ntohs(address.sin_port);
}

}  // namespace pareto::test
