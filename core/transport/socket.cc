#include "core/transport/socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/poll.h"
#include "core/transport/connection_race.h"

namespace pareto::transport {
namespace {

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

/// `unknown`: the code where the name means nothing.
Expected<AddressList> resolve(const HostPort& address, int flags, ErrorCode unknown) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int status =
      getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
  if (status == EAI_AGAIN) {
    // While a machine starts its networks come up: trying again helps.
    return fail(ErrorCode::kUnavailable, "the host \"{}\" is not known yet: {}", address.host,
                gai_strerror(status));
  }
  if (status != 0) {
    return fail(unknown, "the host \"{}\" is not known: {}", address.host, gai_strerror(status));
  }
  return AddressList(found, &freeaddrinfo);
}

std::vector<Endpoint> endpoints_of(const addrinfo* found) {
  std::vector<Endpoint> endpoints;
  for (; found != nullptr; found = found->ai_next) {
    if (found->ai_addrlen > sizeof(sockaddr_storage)) continue;
    Endpoint& endpoint = endpoints.emplace_back();
    std::memcpy(&endpoint.address, found->ai_addr, found->ai_addrlen);
    endpoint.size = found->ai_addrlen;
  }
  return in_turns(std::move(endpoints));
}

/// Opens a socket. No value means that errno says why.
FileDescriptor socket_of(int family) {
  return FileDescriptor(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

Expected<FileDescriptor> open_socket(int family) {
  FileDescriptor socket = socket_of(family);
  if (!socket) return fail(ErrorCode::kExhausted, "no socket: {}", errno_text(errno));
  return socket;
}

/// Binds it and listens. False: errno says why.
bool listen_on(const FileDescriptor& socket, const addrinfo& address) {
  // Connections of an earlier listener that linger in TIME_WAIT do not keep the port; a live
  // listener does.
  const int on = 1;
  setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  return ::bind(socket.get(), address.ai_addr, address.ai_addrlen) == 0 &&
         ::listen(socket.get(), SOMAXCONN) == 0;
}

void set_port(addrinfo& address, std::uint16_t port) {
  const std::uint16_t wire = htons(port);
  if (address.ai_family == AF_INET) {
    reinterpret_cast<sockaddr_in*>(address.ai_addr)->sin_port = wire;
  } else if (address.ai_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(address.ai_addr)->sin6_port = wire;
  }
}

/// Returns whether one of the sockets is bound to that address: a name may have it twice.
bool is_one_of(const std::vector<FileDescriptor>& sockets, const addrinfo& address) {
  return std::ranges::any_of(sockets, [&](const FileDescriptor& socket) {
    sockaddr_storage bound{};
    socklen_t size = sizeof(bound);
    return getsockname(socket.get(), reinterpret_cast<sockaddr*>(&bound), &size) == 0 &&
           size == address.ai_addrlen && std::memcmp(&bound, address.ai_addr, size) == 0;
  });
}

/// Opens one IPv6 socket that takes connections by IPv4 as well.
Expected<FileDescriptor> listen_at_all(std::uint16_t port) {
  PARETO_ASSIGN(const AddressList found,
                resolve({"::", port}, AI_PASSIVE, ErrorCode::kInvalidArgument));
  PARETO_ASSIGN(FileDescriptor socket, open_socket(found->ai_family));
  const int off = 0;
  setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
  if (!listen_on(socket, *found)) return fail(ErrorCode::kUnavailable, "{}", errno_text(errno));
  return socket;
}

std::string name_of(int (*get_name)(int, sockaddr*, socklen_t*), int socket) {
  Endpoint end{{}, sizeof(sockaddr_storage)};
  auto* name = reinterpret_cast<sockaddr*>(&end.address);
  return get_name(socket, name, &end.size) == 0 ? to_string(end) : "?";
}

tl::unexpected<Error> cannot_listen(const HostPort& address, int number) {
  const std::string where = to_string(address);
  switch (number) {
    case EADDRINUSE:
      return fail(ErrorCode::kPermission,
                  "{} is in use: another program listens there; choose another port, or 0 for a "
                  "free one",
                  where);
    case EACCES:
      return fail(ErrorCode::kPermission,
                  "{} is not allowed: ports below 1024 need privileges; choose a higher one",
                  where);
    case EADDRNOTAVAIL:
      // Not yet, perhaps: while a machine starts its networks come up.
      return fail(ErrorCode::kUnavailable, "{} is no address of this machine", where);
    default:
      return fail(ErrorCode::kUnavailable, "cannot listen on {}: {}", where, errno_text(number));
  }
}

}  // namespace

Expected<Waker> Waker::create() {
  FileDescriptor event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event) return fail(ErrorCode::kExhausted, "no event descriptor: {}", errno_text(errno));
  return Waker(std::move(event));
}

void Waker::wake() {
  // Never read back: once woken, for ever woken. It cannot fail but by overflow, which wakes as
  // well.
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(event_.get(), &one, sizeof(one));
}

Expected<short> wait_until_ready(int descriptor, short events, const Waker* waker,
                                 Deadline deadline) {
  std::array<pollfd, 2> polled{{{descriptor, events, 0}, {-1, POLLIN, 0}}};
  if (waker != nullptr) polled[1].fd = waker->descriptor();
  PARETO_TRY(poll_until(polled, deadline));
  if (polled[1].revents != 0) return fail(ErrorCode::kClosed, "closed on this side");
  return polled[0].revents;
}

Expected<FileDescriptor> open_listener(const HostPort& address) {
  PARETO_ASSIGN(const AddressList found, resolve(address, AI_PASSIVE, ErrorCode::kInvalidArgument));
  PARETO_ASSIGN(FileDescriptor socket, open_socket(found->ai_family));
  if (!listen_on(socket, *found)) return cannot_listen(address, errno);
  return socket;
}

Expected<std::vector<FileDescriptor>> open_listeners(const HostPort& address) {
  std::vector<FileDescriptor> listening;
  if (address.host == "0.0.0.0") {
    if (auto both = listen_at_all(address.port)) {
      listening.push_back(*std::move(both));
      return listening;
    }
    // What follows says what is wrong, or does without IPv6.
  }
  PARETO_ASSIGN(const AddressList found, resolve(address, AI_PASSIVE, ErrorCode::kInvalidArgument));
  HostPort bound = address;
  int number = EADDRNOTAVAIL;
  for (addrinfo* candidate = found.get(); candidate != nullptr; candidate = candidate->ai_next) {
    FileDescriptor socket = socket_of(candidate->ai_family);
    set_port(*candidate, bound.port);
    if (socket && listen_on(socket, *candidate)) {
      // All the others on the port that the first was given.
      PARETO_ASSIGN(const HostPort first, parse_host_port(local_address(socket)));
      bound.port = first.port;
      listening.push_back(std::move(socket));
      continue;
    }
    number = errno;
    const bool lacks = number == EADDRNOTAVAIL || number == EAFNOSUPPORT;
    const bool again = number == EADDRINUSE && is_one_of(listening, *candidate);
    if (!lacks && !again) return cannot_listen(bound, number);
  }
  if (listening.empty()) return cannot_listen(bound, number);
  return listening;
}

Expected<FileDescriptor> open_connection(const HostPort& address, Deadline deadline) {
  if (address.port == 0) {
    return fail(ErrorCode::kInvalidArgument, "{}: port 0 cannot be connected to",
                to_string(address));
  }
  PARETO_ASSIGN(const AddressList found, resolve(address, 0, ErrorCode::kUnavailable));
  return connect_to_first(endpoints_of(found.get()), to_string(address), deadline);
}

Expected<HostPort> pick_address(const HostPort& address, Deadline deadline) {
  const auto found = resolve(address, 0, ErrorCode::kUnavailable);
  if (!found || (*found)->ai_next == nullptr) return address;
  PARETO_ASSIGN(const FileDescriptor socket,
                connect_to_first(endpoints_of(found->get()), to_string(address), deadline));
  return parse_host_port(remote_address(socket));
}

Expected<FileDescriptor> accept_connection(const FileDescriptor& listening, const Waker& waker,
                                           Deadline deadline) {
  while (true) {
    FileDescriptor socket(
        ::accept4(listening.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket) return socket;
    switch (const int number = errno; number) {
      case EMFILE:
      case ENFILE:
      case ENOBUFS:
      case ENOMEM:
        return fail(ErrorCode::kExhausted, "{}", errno_text(number));
      case EBADF:
      case EINVAL:
      case ENOTSOCK:
        return fail(ErrorCode::kClosed, "the listener is closed");
      case EAGAIN:
        PARETO_TRY(wait_until_ready(listening.get(), POLLIN, &waker, deadline));
        break;
      default:  // befell a connection that ended before it was accepted: the next one may be well
        break;
    }
  }
}

std::string local_address(const FileDescriptor& socket) {
  return name_of(&::getsockname, socket.get());
}

std::string remote_address(const FileDescriptor& socket) {
  return name_of(&::getpeername, socket.get());
}

void tune_connection(const FileDescriptor& socket, const KeepAlive& keep_alive) {
  // Best effort: a link without them works. No TCP_USER_TIMEOUT: it would end links whose peer
  // computes for long and does not read, which a shut window tells. Beats judge those, and find a
  // peer that is gone sooner (live_link.h).
  const auto set = [&](int level, int option, int value) {
    setsockopt(socket.get(), level, option, &value, sizeof(value));
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, static_cast<int>(keep_alive.idle.count()));
  set(IPPROTO_TCP, TCP_KEEPINTVL, static_cast<int>(keep_alive.interval.count()));
  set(IPPROTO_TCP, TCP_KEEPCNT, keep_alive.probes);
}

std::string errno_text(int number) { return std::generic_category().message(number); }

}  // namespace pareto::transport
