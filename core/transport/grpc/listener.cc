#include "core/transport/grpc/listener.h"

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include "core/base/bounded_queue.h"
#include "core/transport/connection_feed.h"
#include "core/transport/grpc/link.h"
#include "core/transport/grpc/settings.h"
#include "core/transport/grpc/stream.h"
#include "core/transport/socket.h"

namespace pareto::transport::grpc {
namespace {

constexpr std::size_t kMostWaiting = 128;
constexpr int kIdleMs = 10'000;

/// Returns "ipv4:127.0.0.1:40312" or "ipv6:%5B::1%5D:40312" -> as addresses are written everywhere
/// else.
std::string readable_peer(std::string peer) {
  if (peer.starts_with("ipv4:") || peer.starts_with("ipv6:")) peer.erase(0, 5);
  for (const auto& [escaped, plain] : {std::pair{"%5B", "["}, std::pair{"%5D", "]"}}) {
    if (const std::size_t at = peer.find(escaped); at != std::string::npos) {
      peer.replace(at, 3, plain);
    }
  }
  return peer;
}

/// Threads: see Stream.
class ServerStream final : public Stream, public ::grpc::ServerGenericBidiReactor {
 public:
  ServerStream(::grpc::GenericCallbackServerContext* context, std::uint64_t read_ahead_bytes)
      : Stream(read_ahead_bytes), context_(context), peer_(readable_peer(context->peer())) {}

  const std::string& peer() const { return peer_; }

  /// The client takes the link for open when it sees the initial metadata.
  void greet() {
    start();
    StartSendInitialMetadata();
  }
  void refuse() {
    refused_ = true;
    close();
    start();
  }

  void OnReadDone(bool ok) override { on_read(ok); }
  void OnWriteDone(bool ok) override { on_write(ok); }
  void OnCancel() override {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
  }
  void OnDone() override {
    bool cancelled = false;
    {
      const std::lock_guard lock(mutex_);
      cancelled = cancelled_;
    }
    on_done(cancelled ? ::grpc::Status(::grpc::StatusCode::CANCELLED, "the peer went away")
                      : ::grpc::Status::OK);
  }

 private:
  void start_read(::grpc::ByteBuffer* into) override { StartRead(into); }
  void start_write(const ::grpc::ByteBuffer* chunk) override { StartWrite(chunk); }
  void finish_writing(bool /*peer_ended*/) override {
    Finish(refused_ ? ::grpc::Status(::grpc::StatusCode::UNAVAILABLE, "nobody accepts links here")
                    : ::grpc::Status::OK);
  }
  void cancel() override { context_->TryCancel(); }

  ::grpc::GenericCallbackServerContext* const context_;  // gRPC's, valid until OnDone
  const std::string peer_;
  bool cancelled_ = false;
  bool refused_ = false;  // set before anything is started
};

/// A link to be accepted, or why connections were refused.
using Waiting = Expected<std::shared_ptr<ServerStream>>;

/// Turns calls of our method into streams that wait to be accepted.
class LinkService final : public ::grpc::CallbackGenericService {
 public:
  explicit LinkService(const Limits& limits) : limits_(limits) {}

  ::grpc::ServerGenericBidiReactor* CreateReactor(
      ::grpc::GenericCallbackServerContext* context) override {
    // The base class answers "unimplemented".
    if (context->method() != kMethod) return CallbackGenericService::CreateReactor(context);
    auto stream = std::make_shared<ServerStream>(context, limits_.read_ahead_bytes);
    // gRPC's threads must not block: no room means no link.
    if (waiting.push(Waiting(stream), std::chrono::steady_clock::now())) {
      stream->greet();
    } else {
      stream->refuse();
    }
    return stream.get();
  }

  BoundedQueue<Waiting> waiting{kMostWaiting};

 private:
  const Limits limits_;
};

}  // namespace

/// Owns the server; shared by the listener and its links. Threads: any.
class LinkServer {
 public:
  explicit LinkServer(const Limits& limits) : service_(limits) {}
  ~LinkServer() {
    stop_accepting();
    if (!server_) return;
    // Every link has ended by now; what is left are strangers' connections.
    server_->Shutdown(std::chrono::system_clock::now());
    server_->Wait();
  }
  LinkServer(const LinkServer&) = delete;
  LinkServer& operator=(const LinkServer&) = delete;

  /// Returns the port.
  Expected<std::uint16_t> start(const HostPort& address, const Limits& limits) {
    PARETO_ASSIGN(std::vector<FileDescriptor> listening, open_listeners(address));
    PARETO_ASSIGN(const HostPort bound, parse_host_port(local_address(listening.front())));
    ::grpc::ServerBuilder builder;
    for (const auto& [name, number] : channel_settings(limits, to_string(address))) {
      builder.AddChannelArgument(name, number);
    }
    // Of a connection that says nothing, or opens no stream: each link has one, from its beginning
    // to its end.
    builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kIdleMs);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, kIdleMs);
    const std::shared_ptr connections = builder.experimental().AddExternalConnectionAcceptor(
        ::grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
        ::grpc::InsecureServerCredentials());
    builder.RegisterCallbackGenericService(&service_);
    server_ = builder.BuildAndStart();
    if (!server_) return fail(ErrorCode::kInternal, "gRPC starts no server, and does not say why");
    const auto take = [connections](FileDescriptor connection) {
      tune_connection(connection);
      ::grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters parameters;
      parameters.fd = connection.release();
      connections->HandleNewConnection(&parameters);
    };
    const auto complain = [this](const Error& error) {
      static_cast<void>(
          service_.waiting.push(tl::unexpected(error), std::chrono::steady_clock::now()));
    };
    PARETO_ASSIGN(feed_, ConnectionFeed::start(std::move(listening), take, complain));
    return bound.port;
  }

  Waiting next(Deadline deadline) {
    PARETO_ASSIGN(Waiting waiting, service_.waiting.pop(deadline));
    return waiting;
  }

  void stop_accepting() {
    feed_.reset();
    service_.waiting.close();
    // Nobody will accept these any more: ending them tells those who connected.
    while (auto waiting = service_.waiting.pop(std::chrono::steady_clock::now())) {
      if (!*waiting) continue;
      (**waiting)->close();
      (**waiting)->wait_until_done(std::chrono::seconds(1));
    }
  }

 private:
  LinkService service_;
  std::unique_ptr<::grpc::Server> server_;
  std::unique_ptr<ConnectionFeed> feed_;
};

Expected<std::unique_ptr<Listener>> GrpcListener::open(const HostPort& address,
                                                       const LinkOptions& options) {
  auto server = std::make_shared<LinkServer>(options.limits);
  HostPort bound = address;
  PARETO_ASSIGN(bound.port, server->start(address, options.limits));
  return std::make_unique<GrpcListener>(std::move(server), to_string(bound), options);
}

GrpcListener::GrpcListener(std::shared_ptr<LinkServer> server, std::string address,
                           const LinkOptions& options)
    : server_(std::move(server)), address_(std::move(address)), options_(options) {}

GrpcListener::~GrpcListener() { close(); }

std::shared_ptr<LinkServer> GrpcListener::server() {
  const std::lock_guard lock(mutex_);
  return server_;
}

Expected<std::unique_ptr<Link>> GrpcListener::accept(Deadline deadline) {
  const std::shared_ptr<LinkServer> held = server();
  if (!held) return fail(ErrorCode::kClosed, "grpc {}: the listener is closed", address_);
  PARETO_ASSIGN(auto stream, with_context(held->next(deadline), "grpc {}: accepting", address_));
  const std::string peer = stream->peer();
  return std::make_unique<GrpcLink>(std::move(stream), held, peer, options_);
}

void GrpcListener::close() {
  std::shared_ptr<LinkServer> held;
  {
    const std::lock_guard lock(mutex_);
    held = std::move(server_);
  }
  if (held) held->stop_accepting();
}

}  // namespace pareto::transport::grpc
