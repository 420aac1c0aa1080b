// One gRPC stream that carries frames.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "core/transport/frame_arrival.h"
#include "core/transport/grpc/chunk_pace.h"
#include "core/transport/grpc/chunks.h"
#include "core/transport/grpc/secure.h"
#include "core/transport/grpc/stream.h"
#include "core/transport/transport.h"
#include "core/wire/frame.h"

namespace pareto::transport::grpc {

/// A link whose frames travel as messages of one gRPC call.
///
/// Threads: as Link says.
class GrpcLink final : public Link {
 public:
  /// `carrier`: what the stream runs on (a channel or a server); released after the stream has
  /// ended.
  GrpcLink(std::shared_ptr<Stream> stream, std::shared_ptr<void> carrier, std::string address,
           const std::optional<GrpcPeer>& peer, const LinkOptions& options);
  /// Waits until the peer knows, for a few seconds at most: until then it may still read what was
  /// sent.
  ~GrpcLink() override;

  Expected<Sent> send(const wire::Message& message, Deadline deadline) override;
  Expected<Received> receive(Deadline deadline) override;
  void trust(std::uint64_t max_frame_bytes) override {
    decoder_.set_max_frame_bytes(max_frame_bytes);
  }
  void send_without_checksum() override { options_.payload_checksum = false; }
  void send_by(const wire::Codec* codec) override { options_.codec = codec; }
  void primed(const LinkFigures& figures, std::uint64_t boundary_bytes) override;
  std::uint64_t received_bytes() const override { return stream_->received_bytes(); }
  void close() override;
  void abort() override;
  std::string peer() const override { return peer_; }
  PeerIdentity identity() const override { return identity_; }

 private:
  Expected<> read_some(Deadline deadline);

  const std::shared_ptr<void> carrier_;
  const std::shared_ptr<Stream> stream_;
  const std::string address_;  ///< the peer's
  const PeerIdentity identity_;
  const std::string peer_;
  LinkOptions options_;
  std::atomic<bool> closed_ = false;  // on this side
  ChunkPace pace_;                    // the sending thread's

  // The receiving thread's.
  wire::FrameDecoder decoder_;
  ChunkReader chunk_;
  FrameArrival arrival_;
};

}  // namespace pareto::transport::grpc
