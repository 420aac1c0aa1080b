#include "core/transport/shm/packet.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>

namespace pareto::transport::shm {
namespace {

constexpr std::size_t kMostDescriptors = 2;
constexpr std::size_t kMostPieces = 64;

union ControlBuffer {
  std::array<char, CMSG_SPACE(kMostDescriptors * sizeof(int))> bytes;
  cmsghdr align;
};

void attach(msghdr& message, ControlBuffer& buffer, std::span<const int> descriptors) {
  message.msg_control = buffer.bytes.data();
  message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
  std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
}

std::vector<FileDescriptor> detach(msghdr& message) {
  std::vector<FileDescriptor> found;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
      found.emplace_back(number);
    }
  }
  return found;
}

}  // namespace

Expected<> send_packet(const FileDescriptor& socket, const PacketHeader& header,
                       std::span<const std::span<const std::byte>> body,
                       std::span<const int> descriptors, const Waker& waker, Deadline deadline) {
  std::array<iovec, kMostPieces + 1> parts;
  std::size_t count = 0;
  parts[count++] = {const_cast<PacketHeader*>(&header), sizeof(header)};
  for (const auto& piece : body) {
    if (count == parts.size()) return fail(ErrorCode::kInternal, "a packet of too many pieces");
    parts[count++] = {const_cast<std::byte*>(piece.data()), piece.size()};
  }
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = count;
  ControlBuffer control{};
  if (!descriptors.empty()) attach(message, control, descriptors);
  while (true) {
    if (::sendmsg(socket.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return {};
    if (errno == EAGAIN || errno == ENOBUFS) {
      PARETO_ASSIGN(const short ready,
                    wait_until_ready(socket.get(), POLLOUT | POLLRDHUP, &waker, deadline));
      if ((ready & (POLLRDHUP | POLLHUP)) != 0) {
        return fail(ErrorCode::kClosed, "the peer closed the link");
      }
    } else if (errno == EPIPE || errno == ECONNRESET) {
      return fail(ErrorCode::kClosed, "the peer closed the link");
    } else if (errno != EINTR) {
      return fail(ErrorCode::kUnavailable, "the connection broke: {}", errno_text(errno));
    }
  }
}

Expected<Packet> receive_packet(const FileDescriptor& socket, std::span<std::byte> buffer,
                                const Waker& waker, Deadline deadline) {
  while (true) {
    iovec part{buffer.data(), buffer.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    ControlBuffer control{};
    message.msg_control = control.bytes.data();
    message.msg_controllen = control.bytes.size();
    const ssize_t got = ::recvmsg(socket.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got == 0) return fail(ErrorCode::kClosed, "the peer closed the link");
    if (got > 0) {
      Packet packet;
      packet.descriptors = detach(message);
      const auto size = static_cast<std::size_t>(got);
      if ((message.msg_flags & MSG_CTRUNC) != 0) {
        return fail(ErrorCode::kExhausted,
                    "a block of shared memory could not be taken: this process has no file "
                    "descriptors left (ulimit -n, or LimitNOFILE of its service)");
      }
      if (size < sizeof(PacketHeader) || (message.msg_flags & MSG_TRUNC) != 0) {
        return fail(ErrorCode::kCorrupt, "a packet of {} bytes is none of ours", size);
      }
      std::memcpy(&packet.header, buffer.data(), sizeof(PacketHeader));
      packet.body = buffer.subspan(sizeof(PacketHeader), size - sizeof(PacketHeader));
      return packet;
    }
    if (errno == EAGAIN) {
      PARETO_TRY(wait_until_ready(socket.get(), POLLIN, &waker, deadline));
    } else if (errno != EINTR && errno != ECONNRESET) {
      // A reset is told once, before what the peer sent last; then comes that, then the end.
      return fail(ErrorCode::kUnavailable, "the connection broke: {}", errno_text(errno));
    }
  }
}

}  // namespace pareto::transport::shm
