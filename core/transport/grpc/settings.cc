#include "core/transport/grpc/settings.h"

#include <grpc/grpc.h>

#include <algorithm>

#include "core/transport/address.h"

namespace pareto::transport::grpc {

std::vector<std::pair<std::string, int>> channel_settings(const Limits& limits,
                                                          const std::string& address) {
  const auto window =
      static_cast<int>(std::clamp<std::uint64_t>(limits.read_ahead_bytes / 2, 64 << 10, 16 << 20));
  return {
      {GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, static_cast<int>(kChunkBytes)},
      {GRPC_ARG_MAX_SEND_MESSAGE_LENGTH, static_cast<int>(kChunkBytes)},
      // gRPC would make a compressed message as long as its bytes say before it looks at its limit.
      {GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0},
      // A stream's window is wide from the first frame on. A connection's is 64 KB, and what is in
      // flight of messages no larger than that is no more, unless gRPC may look for what the way
      // holds: over 400 ms, 160 KB a second. From then on both windows are as large as it finds
      // them to have to be, 32 MiB at most. It costs a third of the goodput within a machine, where
      // nothing is on the way; who listens at all addresses is taken for one that is reached from
      // elsewhere.
      {GRPC_ARG_HTTP2_BDP_PROBE, is_loopback(address) ? 0 : 1},
      {GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, window},
      {GRPC_ARG_HTTP2_MAX_FRAME_SIZE, 1 << 20},
      // A peer that vanished without a word, of links whose ends do not judge each other
      // (live_link.h). Generous: a ping waits behind what is in the socket's buffer. That is up to
      // 4 MB, which takes 1 Mbit/s half a minute. The timeout is also TCP_USER_TIMEOUT: gRPC reads
      // its sockets whatever the link's reader does, so no window stays shut.
      {GRPC_ARG_KEEPALIVE_TIME_MS, 10'000},
      {GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 60'000},
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
