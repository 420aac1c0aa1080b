#include "daemon/control/control_server.h"

#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <random>
#include <span>
#include <utility>

#include "core/base/counted.h"
#include "core/base/file_descriptor.h"
#include "core/control/status_code.h"
#include "core/tls/credentials.h"
#include "core/transport/address.h"
#include "core/transport/connection_feed.h"
#include "core/transport/grpc/secure.h"
#include "daemon/control/control_service.h"
#include "daemon/control/socket_file.h"

namespace pareto::daemon {
namespace {

constexpr int kPingMs = 4'000;
// The answer waits behind what is being sent, in buffers on the way. It is TCP_USER_TIMEOUT too.
constexpr int kPingPatienceMs = 12'000;
constexpr int kShortestPingMs = 1'000;
constexpr int kHandshakeMs = 5'000;
constexpr int kIdleMs = 120'000;
constexpr int kMostCallsAConnection = 128;
constexpr int kMostThreads = 512;
// Memory that gRPC takes for connections and messages on their way.
constexpr std::size_t kMostQuotaBytes = std::size_t{256} << 20;

/// Returns the file of a Unix socket's address: "unix:/run/control",
/// "unix:///run/control".
std::string socket_file(const std::string& address) {
  const std::string file = address.substr(transport::kUnixScheme.size());
  return file.starts_with("//") ? file.substr(2) : file;
}

}  // namespace

std::uint64_t random_number() {
  std::random_device numbers;
  return (std::uint64_t{numbers()} << 32) | numbers();
}

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
  if (transport::is_unix(address)) {
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
  // gRPC would make a compressed message as long as its bytes say before it looks at its limit.
  builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  // A coordinator without power says no goodbye: its session ends with the first ping that it does
  // not answer. Its own pings are welcome.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kPingMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kPingPatienceMs);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             kShortestPingMs);
  // A client that connects and says nothing, or asks nothing for long, makes room for others; a
  // coordinator's next call connects it again.
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, kIdleMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMostCallsAConnection);
  // A call under way holds a thread; one more is refused.
  grpc::ResourceQuota quota("control");
  quota.SetMaxThreads(kMostThreads);
  quota.Resize(kMostQuotaBytes);
  builder.SetResourceQuota(quota);
}

}  // namespace

namespace {

/// Refuses calls before their requests are read.
///
/// Threads: gRPC's.
class Gate final : public grpc::AuthMetadataProcessor {
 public:
  explicit Gate(ControlService& service) : service_(service) {}

  bool IsBlocking() const override { return false; }
  grpc::Status Process(const InputMetadata& metadata, grpc::AuthContext* shown,
                       OutputMetadata* /*consumed*/, OutputMetadata* /*response*/) override {
    const auto path = metadata.find(":path");
    if (path == metadata.end()) return {grpc::StatusCode::INTERNAL, "a call without a path"};
    return service_.admit({path->second.data(), path->second.size()}, *shown);
  }

 private:
  ControlService& service_;
};

}  // namespace

struct ControlServer::Impl {
  explicit Impl(ControlParts parts) : service(std::move(parts)) {}
  ControlService service;
  std::unique_ptr<transport::RenewedCertificates> certificates;  ///< null without credentials
  std::unique_ptr<grpc::Server> server;
  std::string address;
  std::string socket;
  std::shared_ptr<tls::Credentials> credentials;
  std::vector<SocketFile> files;
  std::vector<std::unique_ptr<transport::ConnectionFeed>> feeds;
};

ControlServer::ControlServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

ControlServer::~ControlServer() { stop(std::chrono::steady_clock::now()); }

namespace {

using Acceptor = std::shared_ptr<grpc::experimental::ExternalConnectionAcceptor>;

/// Lets the server take connections that come in by one of its addresses.
Acceptor add_acceptor(grpc::ServerBuilder& builder,
                      std::shared_ptr<grpc::ServerCredentials> credentials) {
  return builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      std::move(credentials));
}

void tell_of(SilentPeers& peers) {
  // Strangers do not fill the log.
  constexpr std::size_t kMostLines = 3;
  const auto reports = peers.reports(std::chrono::steady_clock::now());
  for (const SilentPeers::Report& one :
       std::span(reports).first(std::min(reports.size(), kMostLines))) {
    spdlog::warn(
        "{} connected and made no call that it may make ({}): its certificate may be another "
        "authority's, or have expired, or name another role, or it shows none",
        one.host, counted(static_cast<std::size_t>(one.connections), "time"));
  }
  if (reports.size() > kMostLines) {
    spdlog::warn("so did {}", counted(reports.size() - kMostLines, "other host"));
  }
}

/// Hands connections to the server. `secured`: those that shake hands first; null: they don't.
Expected<std::unique_ptr<transport::ConnectionFeed>> feed(Listening& listening,
                                                          const Acceptor& acceptor,
                                                          SilentPeers* secured) {
  const auto take = [acceptor, secured](FileDescriptor connection) {
    if (secured != nullptr) {
      secured->connected(transport::remote_address(connection), std::chrono::steady_clock::now());
    }
    transport::tune_connection(connection, transport::kControlKeepAlive);
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters parameters;
    parameters.fd = connection.release();
    acceptor->HandleNewConnection(&parameters);
  };
  const auto complain = [address = listening.address](const Error& error) {
    spdlog::warn("control address {}: {}", address, error.message);
  };
  return with_context(
      transport::ConnectionFeed::start(std::move(listening.sockets), take, complain),
      "control address {}", listening.address);
}

/// Listens on the Unix socket next to the address.
Expected<std::optional<Listening>> listen_for_users(const std::string& socket, bool needed) {
  if (socket.empty()) return std::nullopt;
  auto listening =
      with_context(listen_on(std::string(transport::kUnixScheme) + socket), "socket {}", socket);
  if (listening) return *std::move(listening);
  if (needed) return tl::unexpected(std::move(listening).error());
  spdlog::warn("{}; users of this machine come in by the address of listen only",
               listening.error().message);
  return std::nullopt;
}

}  // namespace

Expected<std::unique_ptr<ControlServer>> ControlServer::start(const std::string& address,
                                                              ControlParts parts,
                                                              const std::string& socket,
                                                              bool needed) {
  std::vector<Listening> all;
  PARETO_ASSIGN(Listening first, with_context(listen_on(address), "control address {}", address));
  all.push_back(std::move(first));
  PARETO_ASSIGN(std::optional<Listening> for_users, listen_for_users(socket, needed));
  const std::shared_ptr<tls::Credentials> credentials = parts.credentials;
  auto impl = std::make_unique<Impl>(std::move(parts));
  impl->address = all.front().address;
  if (for_users) {
    impl->socket = socket;
    all.push_back(*std::move(for_users));
  }
  impl->credentials = credentials;
  if (credentials != nullptr) {
    PARETO_ASSIGN(impl->certificates, transport::RenewedCertificates::make(*credentials));
  }
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  set_up(builder);
  builder.RegisterService(&impl->service);
  std::vector<Acceptor> acceptors;
  std::vector<bool> secured;
  for (Listening& listening : all) {
    // The kernel says who may open a file.
    secured.push_back(impl->certificates != nullptr && !listening.file);
    const auto own = secured.back() ? impl->certificates->credentials()
                                    : transport::grpc_server_credentials(nullptr);
    if (secured.back()) own->SetAuthMetadataProcessor(std::make_shared<Gate>(impl->service));
    acceptors.push_back(add_acceptor(builder, own));
    if (listening.file) impl->files.push_back(*std::move(listening.file));
  }
  impl->server = builder.BuildAndStart();
  if (!impl->server) {
    return fail(ErrorCode::kInternal, "control address {}: gRPC starts no server", address);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    PARETO_ASSIGN(impl->feeds.emplace_back(),
                  feed(all[i], acceptors[i], secured[i] ? &impl->service.silent_peers() : nullptr));
  }
  return std::unique_ptr<ControlServer>(new ControlServer(std::move(impl)));
}

Expected<> ControlServer::check_answers(Nanoseconds patience) const {
  grpc::ChannelArguments arguments;
  // A connection of its own: what is to be seen is whether a stranger's would be taken.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  const bool on_file = transport::is_unix(impl_->address);
  const tls::Credentials* const own = on_file ? nullptr : impl_->credentials.get();
  const auto secured = transport::grpc_credentials_to_self(own, arguments);
  const auto stub = control::v1::Control::NewStub(
      grpc::CreateCustomChannel(address_from_here(impl_->address), secured, arguments));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + patience);
  control::v1::ClockReply reply;
  const grpc::Status status = stub->Clock(&context, {}, &reply);
  // A device may not ask its own clock, and one that is busy with all calls that it takes says so:
  // these refusals are answers too.
  const grpc::StatusCode code = status.error_code();
  if (status.ok() || code == grpc::StatusCode::PERMISSION_DENIED ||
      code == grpc::StatusCode::RESOURCE_EXHAUSTED) {
    return {};
  }
  return fail(ErrorCode::kUnavailable, "the control address {} does not answer: {}", impl_->address,
              status.error_message());
}

const std::string& ControlServer::address() const { return impl_->address; }
const std::string& ControlServer::socket() const { return impl_->socket; }
void ControlServer::tell_of_silent_peers() {
  if (impl_->credentials != nullptr) tell_of(impl_->service.silent_peers());
}
Expected<> ControlServer::renew_credentials() {
  impl_->service.dismiss_revoked();
  if (impl_->certificates == nullptr) return {};
  return impl_->certificates->renew(*impl_->credentials);
}

void ControlServer::announce_stop() {
  if (impl_->server) impl_->server->GetHealthCheckService()->SetServingStatus(false);
}

void ControlServer::stop(TimePoint deadline) {
  if (!impl_->server) return;
  const auto left = std::max(deadline - std::chrono::steady_clock::now(),
                             std::chrono::steady_clock::duration::zero());
  impl_->feeds.clear();
  impl_->service.end_sessions();
  impl_->server->Shutdown(std::chrono::system_clock::now() + left);
  impl_->server->Wait();
  impl_->server.reset();
  impl_->files.clear();
}

}  // namespace pareto::daemon
