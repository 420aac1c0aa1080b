#include "core/transport/grpc/connection_server.h"

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/security/auth_context.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <atomic>
#include <chrono>
#include <optional>

#include "core/transport/grpc/secure.h"
#include "core/transport/grpc/settings.h"
#include "core/transport/socket.h"

namespace pareto::transport::grpc {
namespace {

constexpr int kIdleMs = 10'000;
constexpr int kMostStreams = 4;  ///< streams of a connection; a link needs one

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

/// The server's end of a call that carries frames.
///
/// Threads: see Stream.
class ServerStream final : public Stream, public ::grpc::ServerGenericBidiReactor {
 public:
  /// `live`: counts the streams that are not gone yet.
  ServerStream(::grpc::GenericCallbackServerContext* context, std::uint64_t read_ahead_bytes,
               std::shared_ptr<std::atomic<int>> live)
      : Stream(read_ahead_bytes),
        context_(context),
        peer_(readable_peer(context->peer())),
        live_(std::move(live)) {
    ++*live_;
  }
  ~ServerStream() override { --*live_; }

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
  const std::shared_ptr<std::atomic<int>> live_;
  bool cancelled_ = false;
  ::grpc::Status refusal_;  // set before anything is started; OK if there is none
};

/// Turns calls of our method into streams that wait to be accepted.
class LinkService final : public ::grpc::CallbackGenericService {
 public:
  LinkService(const LinkOptions& options, WaitingQueue& waiting)
      : options_(options), waiting_(waiting) {}

  ::grpc::ServerGenericBidiReactor* CreateReactor(
      ::grpc::GenericCallbackServerContext* context) override {
    // The base class answers "unimplemented".
    if (context->method() != kMethod) return CallbackGenericService::CreateReactor(context);
    auto stream = std::make_shared<ServerStream>(context, options_.limits.read_ahead_bytes, live_);
    std::optional<GrpcPeer> peer;
    if (options_.credentials) {
      auto found = grpc_peer(*options_.credentials, *context->auth_context());
      if (!found) {
        stream->refuse({::grpc::StatusCode::PERMISSION_DENIED, "the certificate does not hold"});
        return stream.get();
      }
      peer = *std::move(found);
    }
    // gRPC's threads must not block: no room means no link.
    OpenedStream opened{stream, stream->peer(), std::move(peer)};
    if (waiting_.push(std::move(opened), std::chrono::steady_clock::now())) {
      stream->greet();
    } else {
      stream->refuse({::grpc::StatusCode::UNAVAILABLE, "nobody accepts links here"});
    }
    return stream.get();
  }
  /// Returns how many streams are not gone yet.
  int live() const { return *live_; }

 private:
  const LinkOptions options_;
  WaitingQueue& waiting_;
  const std::shared_ptr<std::atomic<int>> live_ = std::make_shared<std::atomic<int>>(0);
};

/// Returns what changes when credentials do; null without any.
std::shared_ptr<ssl_ctx_st> context_of(const LinkOptions& options) {
  return options.credentials ? options.credentials->context() : nullptr;
}

}  // namespace

struct ConnectionServer::Impl {
  Impl(const LinkOptions& terms, WaitingQueue& waiting)
      : options(terms), context(context_of(terms)), service(terms, waiting) {}

  const LinkOptions options;
  const std::shared_ptr<ssl_ctx_st> context;
  std::optional<TimePoint> replaced;
  LinkService service;
  std::shared_ptr<::grpc::experimental::ExternalConnectionAcceptor> connections;
  std::unique_ptr<::grpc::Server> server;
};

Expected<std::unique_ptr<ConnectionServer>> ConnectionServer::start(const HostPort& address,
                                                                    const LinkOptions& options,
                                                                    WaitingQueue& waiting) {
  auto impl = std::make_unique<Impl>(options, waiting);
  ::grpc::ServerBuilder builder;
  for (const auto& [name, number] : channel_settings(options.limits, to_string(address))) {
    builder.AddChannelArgument(name, number);
  }
  // Of a connection that says nothing, or opens no stream: each link has one, from its beginning to
  // its end.
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kIdleMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, kIdleMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMostStreams);
  impl->connections = builder.experimental().AddExternalConnectionAcceptor(
      ::grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      grpc_server_credentials(options.credentials.get()));
  builder.RegisterCallbackGenericService(&impl->service);
  impl->server = builder.BuildAndStart();
  if (!impl->server) {
    return fail(ErrorCode::kInternal, "gRPC starts no server, and does not say why");
  }
  return std::unique_ptr<ConnectionServer>(new ConnectionServer(std::move(impl)));
}

ConnectionServer::ConnectionServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

ConnectionServer::~ConnectionServer() {
  // What is left are strangers' connections.
  impl_->server->Shutdown(std::chrono::system_clock::now());
  impl_->server->Wait();
}

bool ConnectionServer::is_current() const { return impl_->context == context_of(impl_->options); }

void ConnectionServer::replace() { impl_->replaced = std::chrono::steady_clock::now(); }

bool ConnectionServer::is_done() const {
  return impl_->replaced && impl_->service.live() == 0 &&
         std::chrono::steady_clock::now() - *impl_->replaced >
             2 * std::chrono::milliseconds(kIdleMs);
}

void ConnectionServer::take(FileDescriptor connection) {
  ::grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters parameters;
  parameters.fd = connection.release();
  impl_->connections->HandleNewConnection(&parameters);
}

}  // namespace pareto::transport::grpc
