#include "daemon/control/control_server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <optional>
#include <utility>

#include "core/base/file_descriptor.h"
#include "core/transport/connection_feed.h"
#include "daemon/control/control_service.h"
#include "daemon/control/socket_file.h"

namespace pareto::daemon {
namespace {

constexpr int kPingMs = 10'000;
constexpr int kPingPatienceMs = 20'000;
constexpr int kHandshakeMs = 5'000;
constexpr int kIdleMs = 120'000;
constexpr int kMostCallsAConnection = 128;
constexpr int kMostThreads = 512;

constexpr std::string_view kOnFile = "unix:";

/// Returns the file of an address that begins with kOnFile: "unix:/run/control",
/// "unix:///run/control".
std::string socket_file(const std::string& address) {
  const std::string file = address.substr(kOnFile.size());
  return file.starts_with("//") ? file.substr(2) : file;
}

}  // namespace

std::string address_from_here(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  const std::string host = address.substr(0, colon);
  if (host == "0.0.0.0" || host == "*") return "127.0.0.1" + address.substr(colon);
  if (host == "[::]") return "[::1]" + address.substr(colon);
  return address;
}

namespace {

/// The sockets that calls come in on.
struct Listening {
  std::vector<FileDescriptor> sockets;
  std::optional<SocketFile> file;  ///< file of a Unix socket
  std::string address;             ///< the host asked for, and the real port
};

Expected<Listening> listen_on(const std::string& address) {
  Listening listening;
  listening.address = address;
  if (address.starts_with(kOnFile)) {
    PARETO_ASSIGN(SocketFile file, SocketFile::listen(socket_file(address)));
    listening.sockets.push_back(file.take_socket());
    listening.file.emplace(std::move(file));
    return listening;
  }
  PARETO_ASSIGN(transport::HostPort asked, transport::parse_host_port(address));
  PARETO_ASSIGN(listening.sockets, transport::open_listeners(asked));
  const std::string bound = transport::local_address(listening.sockets.front());
  listening.address = address.substr(0, address.rfind(':')) + bound.substr(bound.rfind(':'));
  return listening;
}

void set_up(grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(kMaxControlMessageBytes);
  builder.SetMaxSendMessageSize(kMaxControlMessageBytes);
  // A coordinator without power says no goodbye: its session ends with the first ping that it does
  // not answer. Its own pings are welcome.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kPingMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kPingPatienceMs);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kPingMs / 2);
  // A client that connects and says nothing, or asks nothing for long, makes room for others; a
  // coordinator's next call connects it again.
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, kIdleMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMostCallsAConnection);
  // A call under way holds a thread; one more is refused.
  grpc::ResourceQuota quota("control");
  quota.SetMaxThreads(kMostThreads);
  builder.SetResourceQuota(quota);
}

}  // namespace

struct ControlServer::Impl {
  explicit Impl(ControlParts parts) : service(std::move(parts)) {}
  ControlService service;
  std::unique_ptr<grpc::Server> server;
  std::string address;
  std::optional<SocketFile> file;
  std::unique_ptr<transport::ConnectionFeed> feed;
};

ControlServer::ControlServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

ControlServer::~ControlServer() { stop(std::chrono::steady_clock::now()); }

Expected<std::unique_ptr<ControlServer>> ControlServer::start(const std::string& address,
                                                              ControlParts parts) {
  PARETO_ASSIGN(Listening listening,
                with_context(listen_on(address), "control address {}", address));
  auto impl = std::make_unique<Impl>(std::move(parts));
  impl->address = std::move(listening.address);
  if (listening.file) impl->file.emplace(*std::move(listening.file));
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  set_up(builder);
  builder.RegisterService(&impl->service);
  const std::shared_ptr connections = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      grpc::InsecureServerCredentials());
  impl->server = builder.BuildAndStart();
  if (!impl->server) {
    return fail(ErrorCode::kInternal, "control address {}: gRPC starts no server", address);
  }
  const auto take = [connections](FileDescriptor connection) {
    transport::tune_connection(connection, transport::kControlKeepAlive);
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters parameters;
    parameters.fd = connection.release();
    connections->HandleNewConnection(&parameters);
  };
  const auto complain = [address](const Error& error) {
    spdlog::warn("control address {}: {}", address, error.message);
  };
  PARETO_ASSIGN(impl->feed, with_context(transport::ConnectionFeed::start(
                                             std::move(listening.sockets), take, complain),
                                         "control address {}", address));
  return std::unique_ptr<ControlServer>(new ControlServer(std::move(impl)));
}

Expected<> ControlServer::check_answers(Nanoseconds patience) const {
  grpc::ChannelArguments arguments;
  // A connection of its own: what is to be seen is whether a stranger's would be taken.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  const auto stub = control::v1::Control::NewStub(grpc::CreateCustomChannel(
      address_from_here(impl_->address), grpc::InsecureChannelCredentials(), arguments));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + patience);
  control::v1::ClockReply reply;
  const grpc::Status status = stub->Clock(&context, {}, &reply);
  if (status.ok()) return {};
  return fail(ErrorCode::kUnavailable, "the control address {} does not answer: {}", impl_->address,
              status.error_message());
}

const std::string& ControlServer::address() const { return impl_->address; }

void ControlServer::announce_stop() {
  if (impl_->server) impl_->server->GetHealthCheckService()->SetServingStatus(false);
}

void ControlServer::stop(TimePoint deadline) {
  if (!impl_->server) return;
  const auto left = std::max(deadline - std::chrono::steady_clock::now(),
                             std::chrono::steady_clock::duration::zero());
  impl_->feed.reset();
  impl_->service.end_sessions();
  impl_->server->Shutdown(std::chrono::system_clock::now() + left);
  impl_->server->Wait();
  impl_->server.reset();
  impl_->file.reset();
}

}  // namespace pareto::daemon
