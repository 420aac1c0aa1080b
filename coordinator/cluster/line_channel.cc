#include "coordinator/cluster/line_channel.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "core/base/file.h"
#include "core/base/poll.h"

namespace pareto::cluster {
namespace {

/// A peer that reads nothing keeps this side no longer.
constexpr timeval kSendPatience{5, 0};
/// A process that was stopped accepts no connection.
constexpr timeval kConnectPatience{1, 0};

Expected<sockaddr_un> socket_address(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string& text = path.native();
  if (text.size() >= sizeof(address.sun_path)) {
    return fail(ErrorCode::kInvalidArgument, "{}: longer than the {} characters of a socket's path",
                text, sizeof(address.sun_path) - 1);
  }
  std::memcpy(address.sun_path, text.c_str(), text.size() + 1);
  return address;
}

const sockaddr* generic(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

/// Returns whether this user or root is at the other end.
bool is_own_peer(const FileDescriptor& socket) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  return peer.uid == 0 || peer.uid == ::geteuid();
}

void set_patience(const FileDescriptor& socket, const timeval& patience) {
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
}

LineChannel patient_channel(FileDescriptor socket, std::size_t most) {
  set_patience(socket, kSendPatience);
  return LineChannel(std::move(socket), most);
}

}  // namespace

Expected<std::optional<std::string>> LineChannel::receive(Deadline deadline, int stop) {
  for (;;) {
    if (const std::size_t end = buffer_.find('\n'); end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    if (buffer_.size() > most_) {
      return fail(ErrorCode::kCorrupt, "a line of more than {} bytes", most_);
    }
    std::array<pollfd, 2> polled{{{socket_.get(), POLLIN, 0}, {stop, POLLIN, 0}}};
    PARETO_TRY(poll_until(polled, deadline));
    if (polled[1].revents != 0) return fail(ErrorCode::kClosed, "stopped");
    std::array<char, 4096> bytes{};
    const ssize_t got = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno != ECONNRESET) {
      return fail(ErrorCode::kUnavailable, "receiving: {}", std::strerror(errno));
    }
    if (got <= 0) return std::nullopt;
    buffer_.append(bytes.data(), static_cast<std::size_t>(got));
  }
}

Expected<> LineChannel::send(std::string line) const {
  line += '\n';
  std::string_view left = line;
  while (!left.empty()) {
    const ssize_t sent = ::send(socket_.get(), left.data(), left.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return fail(ErrorCode::kUnavailable, "sending: {}", std::strerror(errno));
    left.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

Expected<FileDescriptor> listen_at(const std::filesystem::path& path) {
  PARETO_ASSIGN(const sockaddr_un address, socket_address(path));
  FileDescriptor listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  ::unlink(path.c_str());
  if (!listener || ::bind(listener.get(), generic(address), sizeof(address)) != 0 ||
      ::chmod(path.c_str(), 0600) != 0 || ::listen(listener.get(), 4) != 0) {
    return tl::unexpected(error_from_errno(errno, path.string()));
  }
  return listener;
}

std::optional<LineChannel> accept_from(const FileDescriptor& listener, std::size_t most) {
  FileDescriptor socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!socket || !is_own_peer(socket)) return std::nullopt;
  return patient_channel(std::move(socket), most);
}

Expected<LineChannel> connect_at(const std::filesystem::path& path, std::size_t most) {
  PARETO_ASSIGN(const sockaddr_un address, socket_address(path));
  FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (socket) set_patience(socket, kConnectPatience);
  if (!socket || ::connect(socket.get(), generic(address), sizeof(address)) != 0) {
    // Others wait before this one.
    if (errno == EAGAIN) return fail(ErrorCode::kTimeout, "{}: it does not answer", path.string());
    // One that a killed process left there refuses.
    if (errno == ECONNREFUSED) errno = ENOENT;
    return tl::unexpected(error_from_errno(errno, path.string()));
  }
  if (!is_own_peer(socket))
    return fail(ErrorCode::kPermission, "{}: another user's", path.string());
  return patient_channel(std::move(socket), most);
}

}  // namespace pareto::cluster
