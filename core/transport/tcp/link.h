// One TCP connection that carries frames.
#pragma once

#include <sys/uio.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "core/base/file_descriptor.h"
#include "core/transport/frame_arrival.h"
#include "core/transport/tcp/byte_stream.h"
#include "core/transport/transport.h"
#include "core/wire/frame.h"

namespace pareto::transport::tcp {

/// Frames on a stream of bytes. Tensors are sent from and received into their own memory; a steady
/// stream of messages without a codec takes nothing from the heap, on either side.
///
/// Threads: as Link says; members are grouped by the direction whose thread uses them.
class TcpLink final : public Link {
 public:
  /// Takes a socket that was connected, which does not block. With credentials, ends the handshake
  /// of TLS. Fails: kExhausted (no descriptors left), and as TlsStream::connect().
  static Expected<std::unique_ptr<Link>> connect(FileDescriptor socket, Deadline deadline,
                                                 const LinkOptions& options);
  /// Takes a socket that was accepted, which does not block. Fails: kExhausted.
  static Expected<std::unique_ptr<Link>> accept(FileDescriptor socket, const LinkOptions& options);

  TcpLink(std::unique_ptr<ByteStream> stream, const LinkOptions& options);

  Expected<> authenticate(Deadline deadline) override;
  Expected<Sent> send(const wire::Message& message, Deadline deadline) override;
  Expected<Received> receive(Deadline deadline) override;
  void trust(std::uint64_t max_frame_bytes) override {
    decoder_.set_max_frame_bytes(max_frame_bytes);
  }
  void send_without_checksum() override { encoder_.leave_out_checksum(); }
  void send_by(const wire::Codec* codec) override { encoder_.use_codec(codec); }
  std::uint64_t received_bytes() const override { return received_bytes_; }
  void close() override;
  std::string peer() const override { return peer_; }
  PeerIdentity identity() const override { return stream_->identity(); }

 private:
  Expected<> write(wire::EncodedFrame& frame, Deadline deadline);
  /// Writes everything in unsent_. `started` means that a part of the frame went out before.
  Expected<> write_all(bool started, Deadline deadline);
  Expected<> read_some(Deadline deadline);
  tl::unexpected<Error> end_of_stream() const;

  const std::unique_ptr<ByteStream> stream_;
  const std::string peer_;
  std::atomic<bool> closed_ = false;  // on this side: what was read ahead is no message any more

  // The sending thread's.
  wire::FrameEncoder encoder_;
  std::vector<iovec> unsent_;

  // The receiving thread's. A frame that a deadline cut stays in the decoder until the next
  // receive().
  static constexpr std::size_t kAheadBytes = 16 << 10;
  wire::FrameDecoder decoder_;
  FrameArrival arrival_;
  std::array<std::byte, kAheadBytes> ahead_;  // what came behind the pieces asked for …
  std::size_t ahead_begin_ = 0;               // … of which this much is used
  std::size_t ahead_end_ = 0;
  std::uint64_t received_bytes_ = 0;
};

}  // namespace pareto::transport::tcp
