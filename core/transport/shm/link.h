// One connection between two processes of one machine, its tensors in memory that both map.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>

#include "core/transport/shm/inbox.h"
#include "core/transport/shm/outbox.h"
#include "core/transport/socket.h"
#include "core/transport/transport.h"

namespace pareto::transport::shm {

/// A link through shared memory. The sender copies a frame once, into a block of shared memory. The
/// receiver's tensors lie in that block until the last of them is let go. Small frames travel
/// through the socket.
///
/// Threads: as Link says; members are grouped by the direction whose thread uses them.
class ShmLink final : public Link {
 public:
  /// Takes a connected, non-blocking SOCK_SEQPACKET socket. Fails: kExhausted, kClosed.
  static Expected<std::unique_ptr<Link>> open(FileDescriptor socket, const std::string& peer,
                                              const LinkOptions& options);

  ShmLink(FileDescriptor socket, Waker waker, const std::string& peer, const LinkOptions& options);
  ~ShmLink() override;

  Expected<Sent> send(const wire::Message& message, Deadline deadline) override;
  Expected<Received> receive(Deadline deadline) override;
  void send_by(const wire::Codec* codec) override { codec_ = codec; }
  std::uint64_t received_bytes() const override { return received_bytes_; }
  void close() override;
  std::string peer() const override { return peer_; }
  PeerIdentity identity() const override;

 private:
  Expected<std::optional<Received>> receive_packet_once(Deadline deadline);

  const FileDescriptor socket_;
  Waker waker_;
  const LinkOptions options_;
  const std::string peer_;
  std::atomic<bool> closed_ = false;

  // The sending thread's.
  std::unique_ptr<Outbox> outbox_;
  const wire::Codec* codec_;

  // The receiving thread's.
  Inbox inbox_;
  std::uint64_t received_bytes_ = 0;
  alignas(
      Tensor::kAlignment) std::array<std::byte, sizeof(PacketHeader) + kMostInlineBytes> buffer_;
};

}  // namespace pareto::transport::shm
