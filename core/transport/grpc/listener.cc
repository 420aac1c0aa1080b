#include "core/transport/grpc/listener.h"

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/security/auth_context.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include "core/base/bounded_queue.h"
#include "core/transport/connection_feed.h"
#include "core/transport/grpc/link.h"
#include "core/transport/grpc/link_security.h"
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
  void refuse(const ::grpc::Status& why) {
    refusal_ = why;
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
  void finish_writing(bool /*peer_ended*/) override { Finish(refusal_); }
  void cancel() override { context_->TryCancel(); }

  ::grpc::GenericCallbackServerContext* const context_;  // gRPC's, valid until OnDone
  const std::string peer_;
  bool cancelled_ = false;
  ::grpc::Status refusal_;  // set before anything is started; OK if there is none
};

/// A stream that a peer opened, and who it is; no value: nobody has said so.
struct Opened {
  std::shared_ptr<ServerStream> stream;
  std::optional<tls::Identity> peer;
};
/// A link to be accepted, or why connections were refused.
using Waiting = Expected<Opened>;
using WaitingQueue = BoundedQueue<Waiting>;

/// Turns calls of our method into streams that wait to be accepted.
class LinkService final : public ::grpc::CallbackGenericService {
 public:
  LinkService(const LinkOptions& options, WaitingQueue& waiting)
      : options_(options), waiting_(waiting) {}

  ::grpc::ServerGenericBidiReactor* CreateReactor(
      ::grpc::GenericCallbackServerContext* context) override {
    // The base class answers "unimplemented".
    if (context->method() != kMethod) return CallbackGenericService::CreateReactor(context);
    auto stream = std::make_shared<ServerStream>(context, options_.limits.read_ahead_bytes);
    std::optional<tls::Identity> peer;
    if (options_.credentials) {
      auto found = peer_of(*context->auth_context(), *options_.credentials);
      if (!found) {
        stream->refuse({::grpc::StatusCode::PERMISSION_DENIED, "the certificate does not hold"});
        return stream.get();
      }
      peer = *std::move(found);
    }
    // gRPC's threads must not block: no room means no link.
    if (waiting_.push(Opened{stream, std::move(peer)}, std::chrono::steady_clock::now())) {
      stream->greet();
    } else {
      stream->refuse({::grpc::StatusCode::UNAVAILABLE, "nobody accepts links here"});
    }
    return stream.get();
  }

 private:
  const LinkOptions options_;
  WaitingQueue& waiting_;
};

/// A server of gRPC, which shows the certificate that was in use when it started. It has no
/// listening socket: connections are handed to it.
class ConnectionServer {
 public:
  ConnectionServer(const HostPort& address, const LinkOptions& options, WaitingQueue& waiting)
      : context_(context_of(options)), service_(options, waiting) {
    ::grpc::ServerBuilder builder;
    for (const auto& [name, number] : channel_settings(options.limits, to_string(address))) {
      builder.AddChannelArgument(name, number);
    }
    // Of a connection that says nothing, or opens no stream: each link has one, from its beginning
    // to its end.
    builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kIdleMs);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, kIdleMs);
    connections_ = builder.experimental().AddExternalConnectionAcceptor(
        ::grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
        server_credentials(options.credentials.get()));
    builder.RegisterCallbackGenericService(&service_);
    server_ = builder.BuildAndStart();
  }
  ~ConnectionServer() {
    if (!server_) return;
    // Every link has ended by now; what is left are strangers' connections.
    server_->Shutdown(std::chrono::system_clock::now());
    server_->Wait();
  }
  ConnectionServer(const ConnectionServer&) = delete;
  ConnectionServer& operator=(const ConnectionServer&) = delete;

  bool started() const { return server_ != nullptr; }
  /// Returns whether the certificate that it shows is the one in use.
  bool is_current(const LinkOptions& options) const { return context_ == context_of(options); }
  void take(FileDescriptor connection) {
    ::grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters parameters;
    parameters.fd = connection.release();
    connections_->HandleNewConnection(&parameters);
  }

 private:
  /// Returns what changes when credentials do; null without any.
  static std::shared_ptr<ssl_ctx_st> context_of(const LinkOptions& options) {
    return options.credentials ? options.credentials->context() : nullptr;
  }

  const std::shared_ptr<ssl_ctx_st> context_;
  LinkService service_;
  std::shared_ptr<::grpc::experimental::ExternalConnectionAcceptor> connections_;
  std::unique_ptr<::grpc::Server> server_;
};

}  // namespace

/// Owns the servers: one, and after each change of credentials another for those who connect from
/// then on. Shared by the listener and its links. Threads: any.
class LinkServer {
 public:
  explicit LinkServer(const LinkOptions& options) : options_(options) {}
  ~LinkServer() { stop_accepting(); }
  LinkServer(const LinkServer&) = delete;
  LinkServer& operator=(const LinkServer&) = delete;

  /// Returns the port.
  Expected<std::uint16_t> start(const HostPort& address) {
    PARETO_ASSIGN(std::vector<FileDescriptor> listening, open_listeners(address));
    PARETO_ASSIGN(const HostPort bound, parse_host_port(local_address(listening.front())));
    address_ = address;
    PARETO_TRY(renew());
    const auto take = [this](FileDescriptor connection) {
      tune_connection(connection);
      if (!servers_.back()->is_current(options_)) {
        // Without a new one, the old certificate is better than none.
        if (const auto renewed = renew(); !renewed) complain(renewed.error());
      }
      servers_.back()->take(std::move(connection));
    };
    PARETO_ASSIGN(feed_, ConnectionFeed::start(std::move(listening), take,
                                               [this](const Error& error) { complain(error); }));
    return bound.port;
  }

  Waiting next(Deadline deadline) {
    PARETO_ASSIGN(Waiting waiting, waiting_.pop(deadline));
    return waiting;
  }

  void stop_accepting() {
    feed_.reset();
    waiting_.close();
    // Nobody will accept these any more: ending them tells those who connected.
    while (auto waiting = waiting_.pop(std::chrono::steady_clock::now())) {
      if (!*waiting) continue;
      (*waiting)->stream->close();
      (*waiting)->stream->wait_until_done(std::chrono::seconds(1));
    }
  }

 private:
  /// Starts a server with the credentials in use. Fails: kInternal.
  Expected<> renew() {
    auto server = std::make_unique<ConnectionServer>(address_, options_, waiting_);
    if (!server->started()) {
      return fail(ErrorCode::kInternal, "gRPC starts no server, and does not say why");
    }
    servers_.push_back(std::move(server));
    return {};
  }
  void complain(const Error& error) {
    static_cast<void>(waiting_.push(tl::unexpected(error), std::chrono::steady_clock::now()));
  }

  const LinkOptions options_;
  HostPort address_;
  WaitingQueue waiting_{kMostWaiting};
  /// The last one takes connections; the feed's thread adds to them. Those before may still carry
  /// links.
  std::vector<std::unique_ptr<ConnectionServer>> servers_;
  std::unique_ptr<ConnectionFeed> feed_;
};

Expected<std::unique_ptr<Listener>> GrpcListener::open(const HostPort& address,
                                                       const LinkOptions& options) {
  auto server = std::make_shared<LinkServer>(options);
  HostPort bound = address;
  PARETO_ASSIGN(bound.port, server->start(address));
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
  PARETO_ASSIGN(Opened opened, with_context(held->next(deadline), "grpc {}: accepting", address_));
  const std::string address = opened.stream->peer();
  return std::make_unique<GrpcLink>(std::move(opened.stream), held, address, std::move(opened.peer),
                                    options_);
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
