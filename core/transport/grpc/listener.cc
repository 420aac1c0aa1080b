#include "core/transport/grpc/listener.h"

#include <vector>

#include "core/transport/connection_feed.h"
#include "core/transport/grpc/connection_server.h"
#include "core/transport/grpc/link.h"
#include "core/transport/socket.h"

namespace pareto::transport::grpc {
namespace {

constexpr std::size_t kMostWaiting = 128;

}  // namespace

/// Owns the servers: one, and after each change of credentials another for those who connect from
/// then on. Those that carry nothing any more go with the change after. Shared by the listener and
/// its links. Threads: any.
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
      if (!servers_.back()->is_current()) {
        // Without a new one, the old certificate is better than none.
        if (const auto renewed = renew(); !renewed) complain(renewed.error());
      }
      servers_.back()->take(std::move(connection));
    };
    PARETO_ASSIGN(feed_, ConnectionFeed::start(std::move(listening), take,
                                               [this](const Error& error) { complain(error); }));
    return bound.port;
  }

  Expected<OpenedStream> next(Deadline deadline) {
    PARETO_ASSIGN(Expected<OpenedStream> waiting, waiting_.pop(deadline));
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
    PARETO_ASSIGN(auto server, ConnectionServer::start(address_, options_, waiting_));
    if (!servers_.empty()) servers_.back()->replace();
    std::erase_if(servers_, [](const auto& old) { return old->is_done(); });
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
  PARETO_ASSIGN(OpenedStream opened,
                with_context(held->next(deadline), "grpc {}: accepting", address_));
  return std::make_unique<GrpcLink>(std::move(opened.stream), held, std::move(opened.address),
                                    std::move(opened.peer), options_);
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
