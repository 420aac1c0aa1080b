#include "core/transport/grpc/settings.h"

#include <grpc/grpc.h>

#include <algorithm>

namespace pareto::transport::grpc {

std::vector<std::pair<std::string, int>> channel_settings(const Limits& limits) {
  const auto window =
      static_cast<int>(std::clamp<std::uint64_t>(limits.read_ahead_bytes / 2, 64 << 10, 16 << 20));
  return {
      {GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, static_cast<int>(kChunkBytes)},
      {GRPC_ARG_MAX_SEND_MESSAGE_LENGTH, static_cast<int>(kChunkBytes)},
      // A fixed flow-control window: wide from the first frame on, and never wider than our own limit.
      {GRPC_ARG_HTTP2_BDP_PROBE, 0},
      {GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, window},
      {GRPC_ARG_HTTP2_MAX_FRAME_SIZE, 1 << 20},
      // A peer that vanished without a word. Generous: a ping waits behind the data of a slow network.
      {GRPC_ARG_KEEPALIVE_TIME_MS, 30'000},
      {GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 120'000},
      {GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0},
      {GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0},
      // Each link its own connection; never through a proxy that the environment names.
      {GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1},
      {GRPC_ARG_ENABLE_HTTP_PROXY, 0},
      // Without this a second server on a port in use succeeds, and gets every other connection.
      {GRPC_ARG_ALLOW_REUSEPORT, 0},
  };
}

}  // namespace pareto::transport::grpc
