#include "core/transport/grpc/transport.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/support/channel_arguments.h>

#include <algorithm>

#include "core/transport/grpc/link.h"
#include "core/transport/grpc/listener.h"
#include "core/transport/grpc/secure.h"
#include "core/transport/grpc/settings.h"
#include "core/transport/grpc/stream.h"
#include "core/transport/socket.h"
#include "core/transport/tls_check.h"

namespace pareto::transport::grpc {
namespace {

using std::chrono::system_clock;

/// The longest that gRPC's first connection to an address may take before fresh ones are tried.
constexpr Nanoseconds kFirstAttempt = std::chrono::seconds(1);

/// gRPC waits by the wall clock.
system_clock::time_point wall_deadline(Deadline deadline) {
  if (!deadline) return system_clock::time_point::max();
  return system_clock::now() + std::chrono::duration_cast<system_clock::duration>(
                                   *deadline - std::chrono::steady_clock::now());
}

/// The client's end of a call that carries frames.
///
/// Threads: see Stream.
class ClientStream final
    : public Stream,
      public ::grpc::ClientBidiReactor<::grpc::ByteBuffer, ::grpc::ByteBuffer> {
 public:
  using Stream::Stream;

  void call(::grpc::GenericStub& stub) {
    stub.PrepareBidiStreamingCall(&context_, std::string(kMethod), {}, this);
    // Writes and reads are started from our threads too: gRPC keeps the call until let_go().
    AddHold();
    start();
    StartCall();
  }

  /// Waits until the other end has taken the call. Fails: kUnavailable, kTimeout, kPermission.
  Expected<> wait_until_open(Deadline deadline) {
    std::unique_lock lock(mutex_);
    if (!wait(lock, deadline, [&] { return open_ || done_; })) {
      return fail(ErrorCode::kTimeout, "no answer in time");
    }
    if (open_) return {};
    if (status_.error_code() == ::grpc::StatusCode::PERMISSION_DENIED) {
      return fail(ErrorCode::kPermission, "the peer refuses this side's certificate");
    }
    return fail(ErrorCode::kUnavailable, "no links are accepted there: {}",
                status_.error_message());
  }

  /// Returns who has taken the call. Fails: kPermission.
  Expected<GrpcPeer> peer(const tls::Credentials& credentials) const {
    return grpc_peer(credentials, *context_.auth_context());
  }

  void OnReadInitialMetadataDone(bool ok) override {
    const std::lock_guard lock(mutex_);
    open_ = ok;
    changed_.notify_all();
  }
  void OnReadDone(bool ok) override { on_read(ok); }
  void OnWriteDone(bool ok) override { on_write(ok); }
  void OnDone(const ::grpc::Status& status) override { on_done(status); }

 private:
  void start_read(::grpc::ByteBuffer* into) override { StartRead(into); }
  void start_write(const ::grpc::ByteBuffer* chunk) override { StartWrite(chunk); }
  void finish_writing(bool peer_ended) override {
    if (!peer_ended) StartWritesDone();
  }
  void let_go() override { RemoveHold(); }
  void cancel() override { context_.TryCancel(); }

  ::grpc::ClientContext context_;
  bool open_ = false;
};

/// gRPC 1.51 has one completion queue for all callback calls of a process. It shuts that down when
/// its last user goes, and in doing so now and then unrefs it once too often, which ends the
/// process. So one user never goes: a server without a port.
void keep_callback_queue() {
  // Volatile: an optimiser would not keep the pointer, and leak checkers look for it.
  static const ::grpc::Server* const volatile kUser = [] {
    ::grpc::ServerBuilder builder;
    builder.RegisterCallbackGenericService(new ::grpc::CallbackGenericService);
    return builder.BuildAndStart().release();
  }();
  static_cast<void>(kUser);
}

/// Links over HTTP/2, between machines.
///
/// Threads: any; it has no state.
class GrpcTransport final : public Transport {
 public:
  GrpcTransport() { keep_callback_queue(); }

  std::string_view name() const override { return "grpc"; }
  Reach reach() const override { return Reach::kNetwork; }

  Expected<std::unique_ptr<Listener>> listen(const std::string& address,
                                             const LinkOptions& options) override {
    const auto open = [&]() -> Expected<std::unique_ptr<Listener>> {
      PARETO_ASSIGN(const HostPort where, parse_host_port(address));
      return GrpcListener::open(where, options);
    };
    return with_context(open(), "grpc");
  }

  Expected<std::unique_ptr<Link>> connect(const std::string& address, Deadline deadline,
                                          const LinkOptions& options) override {
    return with_context(open_link(address, deadline, options), "grpc");
  }

 private:
  static Expected<std::unique_ptr<Link>> open_link(const std::string& address, Deadline deadline,
                                                   const LinkOptions& options) {
    PARETO_ASSIGN(const HostPort asked, parse_host_port(address));
    if (asked.port == 0) {
      return fail(ErrorCode::kInvalidArgument, "{}: port 0 cannot be connected to", address);
    }
    PARETO_ASSIGN(const HostPort where, pick_address(asked, deadline));
    PARETO_ASSIGN(const auto channel, open_channel(where, deadline, options));

    auto stream = std::make_shared<ClientStream>(options.limits.read_ahead_bytes);
    ::grpc::GenericStub stub(channel);
    stream->call(stub);
    const auto peer = greet(*stream, deadline, options);
    if (!peer) {
      stream->close();
      stream->wait_until_done(Nanoseconds(0));
      return with_context(Expected<std::unique_ptr<Link>>(tl::unexpected(peer.error())), "{}",
                          address);
    }
    return std::make_unique<GrpcLink>(std::move(stream), channel, address, *peer, options);
  }

  /// Waits until the call is taken. Returns by whom; no value without credentials.
  static Expected<std::optional<GrpcPeer>> greet(ClientStream& stream, Deadline deadline,
                                                 const LinkOptions& options) {
    PARETO_TRY(stream.wait_until_open(deadline));
    if (!options.credentials) return std::nullopt;
    return stream.peer(*options.credentials);
  }

  /// Returns the DNS name that the certificate at the other end has to hold.
  static std::string wanted_name(const LinkOptions& options) {
    return options.expected_peer ? tls::dns_name(*options.expected_peer)
                                 : tls::dns_name(tls::Role::kDevice);
  }

  /// gRPC 1.51 now and then takes a connection under way for one that failed ("Invalid argument":
  /// some other call's errno; seen with glibc 2.41, from new threads of a busy machine). So its
  /// word is taken for it only where TCP, or TLS, says the same.
  static Expected<std::shared_ptr<::grpc::Channel>> open_channel(const HostPort& where,
                                                                 Deadline deadline,
                                                                 const LinkOptions& options) {
    constexpr int kMostAttempts = 3;
    const std::string address = to_string(where);
    ::grpc::ChannelArguments arguments;
    for (const auto& [setting, number] : channel_settings(options.limits, address)) {
      arguments.SetInt(setting, number);
    }
    const auto& credentials = options.credentials;
    const auto secured = grpc_channel_credentials(credentials, wanted_name(options), arguments);
    for (int attempt = 1;; ++attempt) {
      auto channel = ::grpc::CreateCustomChannel(address, secured, arguments);
      const Deadline until = attempt == 1 ? earlier(deadline, kFirstAttempt) : deadline;
      const auto connected = wait_until_connected(*channel, address, until);
      if (connected) return channel;
      if (connected.error().code == ErrorCode::kTimeout && until != deadline) {
        // gRPC's connection may wait for the kernel to repeat itself; fresh ones are tried here.
        channel.reset();
        PARETO_TRY(open_connection(where, deadline));
        continue;
      }
      if (connected.error().code != ErrorCode::kUnavailable) {
        return tl::unexpected(connected.error());
      }
      if (credentials != nullptr) {
        PARETO_TRY(check_tls(where, options, deadline));
      } else {
        PARETO_TRY(open_connection(where, deadline));
      }
      if (attempt == kMostAttempts) return does_not_speak(address, credentials != nullptr);
    }
  }

  static Deadline earlier(Deadline deadline, Nanoseconds time) {
    const Deadline other = deadline_after(time);
    return deadline ? std::min(deadline, other) : other;
  }

  static tl::unexpected<Error> does_not_speak(const std::string& address, bool secured) {
    if (secured) {
      return fail(ErrorCode::kPermission,
                  "{} hangs up once it has seen this side's certificate: that has expired, was "
                  "taken back or is of another authority, or no links are accepted there",
                  address);
    }
    return fail(ErrorCode::kUnavailable,
                "{} does not speak gRPC, or over TLS only: then this side needs credentials "
                "(--credentials)",
                address);
  }

  /// gRPC by itself would try again and again until the deadline; the first refusal is answer
  /// enough.
  static Expected<> wait_until_connected(::grpc::Channel& channel, const std::string& address,
                                         Deadline deadline) {
    while (true) {
      const grpc_connectivity_state state = channel.GetState(/*try_to_connect=*/true);
      if (state == GRPC_CHANNEL_READY) return {};
      if (state == GRPC_CHANNEL_TRANSIENT_FAILURE || state == GRPC_CHANNEL_SHUTDOWN) {
        return fail(ErrorCode::kUnavailable, "{} does not answer", address);
      }
      if (!channel.WaitForStateChange(state, wall_deadline(deadline))) {
        return fail(ErrorCode::kTimeout, "{} did not answer in time", address);
      }
    }
  }
};

}  // namespace

std::unique_ptr<Transport> make_transport() { return std::make_unique<GrpcTransport>(); }

}  // namespace pareto::transport::grpc
