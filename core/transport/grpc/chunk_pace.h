// The size of the messages that a frame travels in. Internal to core/transport/grpc.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/base/clock.h"
#include "core/transport/grpc/settings.h"

namespace pareto::transport::grpc {

/// Chooses a size that takes a tenth of a second by the rate at which the link took the last frame.
/// gRPC hands a message over when it is whole. Over 1 Mbit/s one of kChunkBytes takes 8 s, in which
/// a peer that judges by bytes would see none.
///
/// Threads: one owner.
class ChunkPace {
 public:
  /// The least: 1 Mbit/s passes it in a beat (core/transport/silence.h).
  static constexpr std::size_t kLeastBytes = 16 << 10;
  /// The size as long as no frame has told a rate.
  static constexpr std::size_t kFirstBytes = 64 << 10;
  /// Smaller frames fit into buffers, and tell no rate.
  static constexpr std::uint64_t kTellingBytes = 64 << 10;

  std::size_t chunk_bytes() const { return chunk_bytes_; }
  /// Notes that the link took a frame of `bytes` in that time.
  void sent(std::uint64_t bytes, Nanoseconds took) {
    if (bytes < kTellingBytes) return;
    constexpr double kSeconds = 0.1;
    const double rate = static_cast<double>(bytes) / std::max(to_seconds(took), 1e-9);
    chunk_bytes_ = static_cast<std::size_t>(std::clamp(
        rate * kSeconds, static_cast<double>(kLeastBytes), static_cast<double>(kChunkBytes)));
  }

 private:
  std::size_t chunk_bytes_ = kFirstBytes;
};

}  // namespace pareto::transport::grpc
