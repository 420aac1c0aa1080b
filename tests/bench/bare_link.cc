#include "tests/bench/bare_link.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace pareto::bench {
namespace {

struct Header {
  std::uint64_t order;
  std::uint64_t bytes;
};

Error failed(const char* what) {
  return {ErrorCode::kUnavailable,
          fmt::format("bare link: {}: {}", what, std::generic_category().message(errno))};
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int without_delay(int socket) {
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return socket;
}

}  // namespace

Expected<BareLink> BareLink::connect(std::uint16_t port) {
  BareLink link(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = loopback(port);
  if (::connect(link.socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return tl::unexpected(failed("connect"));
  }
  without_delay(link.socket_);
  return link;
}

Expected<int> BareLink::listen(std::uint16_t& port) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof(address);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener, generic, size) != 0 || ::listen(listener, 1) != 0 ||
      ::getsockname(listener, generic, &size) != 0) {
    return tl::unexpected(failed("listen"));
  }
  port = ntohs(address.sin_port);
  return listener;
}

Expected<BareLink> BareLink::accept(int listener) {
  const int socket = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  if (socket < 0) return tl::unexpected(failed("accept"));
  return BareLink(without_delay(socket));
}

BareLink::BareLink(BareLink&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      body_(std::move(other.body_)),
      body_bytes_(other.body_bytes_) {}

BareLink::~BareLink() {
  if (socket_ >= 0) ::close(socket_);
}

Expected<> BareLink::send(Order order, std::span<const std::byte> bytes) {
  Header header{static_cast<std::uint64_t>(order), bytes.size()};
  std::array<iovec, 2> parts{
      {{&header, sizeof(header)}, {const_cast<std::byte*>(bytes.data()), bytes.size()}}};
  for (std::size_t first = 0; first < parts.size();) {
    ssize_t written = ::writev(socket_, parts.data() + first, static_cast<int>(2 - first));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return tl::unexpected(failed("writev"));
    while (first < parts.size() && static_cast<std::size_t>(written) >= parts[first].iov_len) {
      written -= static_cast<ssize_t>(parts[first++].iov_len);
    }
    if (first == parts.size()) break;
    parts[first].iov_base = static_cast<std::byte*>(parts[first].iov_base) + written;
    parts[first].iov_len -= static_cast<std::size_t>(written);
  }
  return {};
}

Expected<Order> BareLink::receive() {
  Header header{};
  PARETO_TRY(read_all(&header, sizeof(header)));
  body_bytes_ = header.bytes;
  if (body_.size() < body_bytes_) body_.resize(body_bytes_);
  PARETO_TRY(read_all(body_.data(), body_bytes_));
  return static_cast<Order>(header.order);
}

Expected<> BareLink::read_all(void* into, std::size_t bytes) {
  auto* at = static_cast<std::byte*>(into);
  while (bytes > 0) {
    const ssize_t got = ::read(socket_, at, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return tl::unexpected(failed("read"));
    if (got == 0) return fail(ErrorCode::kClosed, "bare link: closed");
    at += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return {};
}

}  // namespace pareto::bench
