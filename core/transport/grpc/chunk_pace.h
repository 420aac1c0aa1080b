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
  static constexpr std::size_t kFirstBytes = 32 << 10;
  /// Smaller frames fit into buffers, and tell no rate.
  static constexpr std::uint64_t kTellingBytes = 64 << 10;

  std::size_t chunk_bytes() const { return chunk_bytes_; }
  /// Notes that the link took a frame of `bytes` in that time.
  void sent(std::uint64_t bytes, Nanoseconds took) {
    if (bytes < kTellingBytes) return;
    const double rate = static_cast<double>(bytes) / std::max(to_seconds(took), 1e-9);
    chunk_bytes_ = std::min(chunk_of(rate), most_bytes_);
  }
  /// Bounds the size by a rate that was measured until the peer had it all; 0: too fast to tell. A
  /// socket's buffer takes the first megabytes faster than the way does.
  void bound(std::uint64_t bytes_per_second) {
    if (bytes_per_second == 0) return;
    most_bytes_ = chunk_of(static_cast<double>(bytes_per_second));
    chunk_bytes_ = std::min<std::size_t>(chunk_bytes_, most_bytes_);
  }

 private:
  static std::size_t chunk_of(double bytes_per_second) {
    constexpr double kSeconds = 0.1;
    return static_cast<std::size_t>(std::clamp(bytes_per_second * kSeconds,
                                               static_cast<double>(kLeastBytes),
                                               static_cast<double>(kChunkBytes)));
  }

  std::size_t most_bytes_ = kChunkBytes;
  std::size_t chunk_bytes_ = kFirstBytes;
};

}  // namespace pareto::transport::grpc
