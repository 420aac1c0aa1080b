#include "coordinator/cluster/control_channel.h"

#include <grpcpp/grpcpp.h>

#include <utility>

#include "core/transport/grpc/secure.h"

namespace pareto::cluster {
namespace {

// A shard's archive (KBs) and manifest travel in one message. gRPC's default of 4 MiB would refuse
// large scripted ones.
constexpr int kMaxMessageBytes = 256 << 20;
// No more often: daemons of protocol 8 hang up on who pings them more than every five seconds.
constexpr int kPingMs = 6'000;
// The answer waits behind what is being sent, in buffers on the way. It is TCP_USER_TIMEOUT too.
constexpr int kPingPatienceMs = 12'000;
// A device that is back after long is found as soon as one that is back at once.
constexpr int kLongestPauseMs = 1'000;

}  // namespace

std::shared_ptr<grpc::Channel> control_channel(const std::string& dialled,
                                               std::shared_ptr<const tls::Credentials> own,
                                               const std::string& server) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  arguments.SetMaxSendMessageSize(kMaxMessageBytes);
  // gRPC would make a compressed message as long as its bytes say before it looks at its limit.
  arguments.SetInt(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  // Two clients of one address must not share a connection, and no proxy belongs between devices.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // If a device hangs or lost its network, every call ends within 18 s, also a long one.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kPingMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kPingPatienceMs);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kLongestPauseMs);
  const auto credentials = transport::grpc_channel_credentials(std::move(own), server, arguments);
  return grpc::CreateCustomChannel(dialled, credentials, arguments);
}

}  // namespace pareto::cluster
