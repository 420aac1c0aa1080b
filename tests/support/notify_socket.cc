#include "tests/support/notify_socket.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <stdexcept>

namespace pareto::test {

NotifySocket::NotifySocket()
    : folder_(TemporaryFolder::create("notify").value()),
      socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path().copy(address.sun_path, sizeof(address.sun_path) - 1);
  if (::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    throw std::runtime_error("no notify socket at " + path());
  }
}

std::string NotifySocket::receive(std::chrono::milliseconds limit) const {
  pollfd watched{socket_.get(), POLLIN, 0};
  if (::poll(&watched, 1, static_cast<int>(limit.count())) <= 0) return "";
  std::array<char, 4096> text{};
  const ssize_t size = ::recv(socket_.get(), text.data(), text.size(), 0);
  return size > 0 ? std::string(text.data(), static_cast<std::size_t>(size)) : "";
}

std::string NotifySocket::receive_with(const std::string& line) const {
  for (;;) {
    std::string message = receive();
    if (message.empty() || ("\n" + message + "\n").find("\n" + line + "\n") != std::string::npos)
      return message;
  }
}

void NotifySocket::drop_waiting() const {
  while (!receive(std::chrono::milliseconds(0)).empty()) {
  }
}

}  // namespace pareto::test
