#include "core/metrics/metrics_server.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>

#include <array>
#include <asio.hpp>
#include <cerrno>
#include <list>
#include <thread>
#include <utility>

#include "core/base/file.h"
#include "core/metrics/http_answer.h"
#include "core/transport/address.h"
#include "core/transport/socket.h"

namespace pareto::metrics {
namespace {

using asio::ip::tcp;

// What a client may go on sending behind its request before it is hung up on.
constexpr std::size_t kDiscardedBytes = 1 << 20;
// Where no connection can be taken (no descriptors are left), until it is tried again.
constexpr std::chrono::milliseconds kRest{500};

struct Connection {
  explicit Connection(tcp::socket accepted)
      : socket(std::move(accepted)), deadline(socket.get_executor()) {}
  tcp::socket socket;
  asio::steady_timer deadline;
  std::string request;
  std::string answer;
  std::array<char, 4096> discarded;
  std::size_t discarded_bytes = 0;
};

}  // namespace

/// Every member but the thread is the thread's own once it runs.
struct MetricsServer::Impl {
  using Client = std::shared_ptr<Connection>;

  Impl(Collect what, const ServerLimits& bounds) : collect(std::move(what)), limits(bounds) {}

  Expected<> open(const std::string& where) {
    PARETO_ASSIGN(const transport::HostPort wanted, transport::parse_host_port(where));
    PARETO_ASSIGN(const FileDescriptor listening, transport::open_listener(wanted));
    address = transport::local_address(listening);
    // Asio owns what it is given.
    const int own = ::fcntl(listening.get(), F_DUPFD_CLOEXEC, 0);
    if (own < 0) return tl::unexpected(error_from_errno(errno, "listening"));
    acceptor.assign(address.starts_with('[') ? tcp::v6() : tcp::v4(), own);
    return {};
  }

  void run() {
    accept();
    for (;;) {
      try {
        context.run();
        return;
      } catch (const std::exception& error) {
        // Of one connection, which ends by its deadline.
        spdlog::warn("metrics: {}", error.what());
      }
    }
  }

  void accept() {
    acceptor.async_accept([this](const std::error_code& error, tcp::socket socket) {
      if (error) return accept_later();
      accept();
      admit(std::move(socket));
    });
  }

  void accept_later() {
    rest.expires_after(kRest);
    rest.async_wait([this](const std::error_code& error) {
      if (!error) accept();
    });
  }

  void admit(tcp::socket socket) {
    if (clients.size() >= limits.connections) close(Client(clients.front()));
    const Client client = std::make_shared<Connection>(std::move(socket));
    clients.push_back(client);
    client->deadline.expires_after(limits.patience);
    client->deadline.async_wait([this, client](const std::error_code& error) {
      if (!error) close(client);
    });
    asio::async_read_until(client->socket, asio::dynamic_buffer(client->request, limits.head_bytes),
                           "\r\n\r\n",
                           [this, client](const std::error_code& error, std::size_t head_bytes) {
                             if (error == asio::error::not_found)
                               return send(client, http_error(431));
                             if (error) return close(client);
                             send(client, answer_to({client->request.data(), head_bytes}));
                           });
  }

  std::string answer_to(std::string_view head) const {
    try {
      return http_answer(head, [this] { return exposition(collect()); });
    } catch (const std::exception& error) {
      spdlog::warn("metrics: {}", error.what());
      return http_error(500);
    }
  }

  void send(const Client& client, std::string answer) {
    client->answer = std::move(answer);
    asio::async_write(client->socket, asio::buffer(client->answer),
                      [this, client](const std::error_code& error, std::size_t /*sent*/) {
                        if (error) return close(client);
                        std::error_code ignored;
                        client->socket.shutdown(tcp::socket::shutdown_send, ignored);
                        discard(client);
                      });
  }

  /// A socket that is closed while bytes from its peer lie unread is reset, and the answer may be lost: the peer is to close first.
  void discard(const Client& client) {
    client->socket.async_read_some(
        asio::buffer(client->discarded),
        [this, client](const std::error_code& error, std::size_t received) {
          client->discarded_bytes += received;
          if (error || client->discarded_bytes > kDiscardedBytes) return close(client);
          discard(client);
        });
  }

  /// What waits on it is called with an error, and closes it once more.
  void close(const Client& client) {
    std::error_code ignored;
    client->socket.close(ignored);
    client->deadline.cancel();
    clients.remove(client);
  }

  const Collect collect;
  const ServerLimits limits;
  std::string address;
  asio::io_context context{1};
  tcp::acceptor acceptor{context};
  asio::steady_timer rest{context};
  std::list<Client> clients;  ///< the oldest first
  std::jthread thread;        // last: it uses all of the above
};

MetricsServer::MetricsServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

MetricsServer::~MetricsServer() { impl_->context.stop(); }

Expected<std::unique_ptr<MetricsServer>> MetricsServer::start(const std::string& address,
                                                              Collect collect,
                                                              const ServerLimits& limits) {
  try {
    auto impl = std::make_unique<Impl>(std::move(collect), limits);
    PARETO_TRY(with_context(impl->open(address), "metrics"));
    impl->thread = std::jthread([raw = impl.get()] { raw->run(); });
    return std::unique_ptr<MetricsServer>(new MetricsServer(std::move(impl)));
  } catch (const std::exception& error) {
    return fail(ErrorCode::kExhausted, "metrics: {}", error.what());
  }
}

const std::string& MetricsServer::address() const { return impl_->address; }

}  // namespace pareto::metrics
