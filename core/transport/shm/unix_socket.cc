#include "core/transport/shm/unix_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <random>

namespace pareto::transport::shm {
namespace {

struct Address {
  sockaddr_un raw{};
  socklen_t size = 0;
};

Expected<Address> address_of(const std::string& name) {
  Address address;
  address.raw.sun_family = AF_UNIX;
  // The first byte stays 0: the name is in no file system, and goes with its socket.
  if (name.empty() || name.size() + 1 > sizeof(address.raw.sun_path)) {
    return fail(ErrorCode::kInvalidArgument, "\"{}\" is no address: write a name of up to {} bytes",
                name, sizeof(address.raw.sun_path) - 1);
  }
  std::memcpy(address.raw.sun_path + 1, name.data(), name.size());
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

Expected<FileDescriptor> open_socket(int flags) {
  FileDescriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0));
  if (!socket) return fail(ErrorCode::kExhausted, "no socket: {}", errno_text(errno));
  return socket;
}

/// Sets how long a connect() may wait for room in the listener's backlog.
void set_patience(const FileDescriptor& socket, Deadline deadline) {
  if (!deadline) return;
  const auto left = std::max(std::chrono::duration_cast<std::chrono::microseconds>(
                                 *deadline - std::chrono::steady_clock::now()),
                             std::chrono::microseconds(1));
  const timeval patience{left.count() / 1'000'000, left.count() % 1'000'000};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
}

}  // namespace

Expected<FileDescriptor> listen_unix(std::string& name) {
  if (name.empty() || name == "auto") {
    std::random_device random;
    name = fmt::format("pareto-{}-{:08x}{:08x}", ::getpid(), random(), random());
  }
  PARETO_ASSIGN(const Address address, address_of(name));
  PARETO_ASSIGN(FileDescriptor socket, open_socket(SOCK_NONBLOCK));
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address.raw), address.size) != 0 ||
      ::listen(socket.get(), SOMAXCONN) != 0) {
    if (errno == EADDRINUSE) return fail(ErrorCode::kPermission, "{} is in use", name);
    return fail(ErrorCode::kPermission, "cannot listen on {}: {}", name, errno_text(errno));
  }
  return socket;
}

Expected<FileDescriptor> connect_unix(const std::string& name, Deadline deadline) {
  PARETO_ASSIGN(const Address address, address_of(name));
  // Blocking until it is connected: nothing announces that a full backlog has room again.
  PARETO_ASSIGN(FileDescriptor socket, open_socket(0));
  set_patience(socket, deadline);
  while (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address.raw), address.size) !=
         0) {
    if (errno == EAGAIN) return fail(ErrorCode::kTimeout, "{} did not answer in time", name);
    if (errno != EINTR) {
      return fail(ErrorCode::kUnavailable, "nobody listens on {}: {}", name, errno_text(errno));
    }
    set_patience(socket, deadline);
  }
  ::fcntl(socket.get(), F_SETFL, O_NONBLOCK);
  if (!is_ours(socket)) {
    return fail(ErrorCode::kPermission,
                "{} belongs to another user: processes share memory with those of the same user "
                "or of root only; use tcp",
                name);
  }
  return socket;
}

std::optional<std::uint32_t> user_of(const FileDescriptor& socket) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  return peer.uid;
}

bool is_ours(const FileDescriptor& socket) {
  const auto user = user_of(socket);
  return user && (*user == 0 || *user == ::geteuid());
}

}  // namespace pareto::transport::shm
