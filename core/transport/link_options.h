// Options of a link that is opened or accepted: one value, given to Transport::connect and
// ::listen.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/tls/identity.h"
#include "core/wire/codec.h"

namespace pareto::tls {
class Credentials;  // core/tls/credentials.h
}  // namespace pareto::tls

namespace pareto::transport {

/// Bounds on what a peer may make us hold. A frame over one of them is refused before memory is
/// allocated.
struct Limits {
  std::uint64_t max_frame_bytes = std::uint64_t{1} << 30;
  /// Largest frame on an accepted link before Link::trust(), because its peer has not said yet who
  /// it is; 0: as for all others. Ignored by transports within a machine.
  std::uint64_t max_stranger_frame_bytes = 0;
  /// Most bytes that a transport that reads ahead may buffer for one link, beyond the frame being
  /// read. Over a network, gRPC holds some more of its own.
  std::uint64_t read_ahead_bytes = std::uint64_t{4} << 20;
};

/// The terms of a link on this side. The two sides of a link need not agree on them, but for
/// credentials: either both have some, of one authority, or neither has.
struct LinkOptions {
  Limits limits{};
  /// The codec of tensors that are sent; null: they travel as they are. Every link takes what any
  /// codec made. It is ignored by transports within a process.
  const wire::Codec* codec = nullptr;
  /// If true, frames carry a checksum of their tensors, which takes one pass over them on each
  /// side. This includes frames to an address of this machine: a tunnel or a forwarder may stand
  /// there. Headers always have one. Transports within a machine ignore this, because only its
  /// memory lies between their ends.
  bool payload_checksum = true;
  /// The certificate that this side shows, and the authority whose certificates it takes: links
  /// over a network are mutual TLS. Null: they are plain. Transports within a machine ignore it,
  /// because the kernel vouches for the user of a peer's process.
  std::shared_ptr<const tls::Credentials> credentials = nullptr;
  /// The one that has to be at the other end of a link that is opened; no value: any device. Only
  /// credentials can tell.
  std::optional<tls::Identity> expected_peer = std::nullopt;
};

}  // namespace pareto::transport
