#include "core/metrics/metrics_server.h"

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <spdlog/spdlog.h>

#include <array>
#include <asio.hpp>
#include <asio/ssl.hpp>
#include <cerrno>
#include <list>
#include <optional>
#include <thread>
#include <utility>

#include "core/base/file.h"
#include "core/metrics/http_answer.h"
#include "core/tls/utc_text.h"
#include "core/transport/address.h"
#include "core/transport/socket.h"

namespace pareto::metrics {
namespace {

using asio::ip::tcp;
using Tls = asio::ssl::stream<tcp::socket&>;

// What a client may go on sending behind its request before it is hung up on.
constexpr std::size_t kDiscardedBytes = 1 << 20;
// Where no connection can be taken (no descriptors are left), until it is tried again.
constexpr std::chrono::milliseconds kRest{500};

struct Connection {
  explicit Connection(tcp::socket accepted)
      : socket(std::move(accepted)), deadline(socket.get_executor()) {}
  tcp::socket socket;
  std::optional<Tls> tls;  ///< no value means plain HTTP
  asio::steady_timer deadline;
  std::string request;
  std::string answer;
  std::array<char, 4096> discarded;
  std::size_t discarded_bytes = 0;
};

bool is_plain_http(const std::error_code& handshake_error) {
  return handshake_error.category() == asio::error::get_ssl_category() &&
         ERR_GET_REASON(static_cast<unsigned long>(handshake_error.value())) == SSL_R_HTTP_REQUEST;
}

void say_warnings(const tls::ServerTls& certificate) {
  for (const std::string& warning : certificate.warnings()) spdlog::warn("metrics: {}", warning);
}

/// Reads a renewed certificate, and logs it. Returns whether it was renewed. Fails: as it does.
Expected<bool> refresh(tls::ServerTls& certificate) {
  PARETO_ASSIGN(const bool renewed, certificate.refresh());
  if (renewed) {
    spdlog::info("metrics: the certificate was read again, it expires {}",
                 tls::utc_text(certificate.expiry()));
    say_warnings(certificate);
  }
  return renewed;
}

void say_kept(const std::string& problem) {
  spdlog::error("metrics: the certificate was not read again, the one before stays: {}", problem);
}

}  // namespace

/// Every member but the thread is the thread's own once it runs; the certificate is anybody's.
struct MetricsServer::Impl {
  using Client = std::shared_ptr<Connection>;

  Impl(Collect what, std::shared_ptr<tls::ServerTls> shown, const ServerLimits& bounds)
      : collect(std::move(what)), certificate(std::move(shown)), limits(bounds) {}

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
    if (!certificate) return receive(client, client->socket);
    begin_tls(client);
  }

  void begin_tls(const Client& client) {
    refresh_certificate();
    const auto shown = certificate->context();
    SSL_CTX_up_ref(shown.get());
    asio::ssl::context own(shown.get());  // its reference is counted, and let go with it
    client->tls.emplace(client->socket, own);
    client->tls->async_handshake(
        asio::ssl::stream_base::server,
        [this, client](const std::error_code& error) { after_handshake(client, error); });
  }

  void after_handshake(const Client& client, const std::error_code& error) {
    if (!error) {
      const auto admitted = certificate->admit(*client->tls->native_handle());
      if (admitted) return receive(client, *client->tls);
      spdlog::debug("metrics: a client is refused: {}", admitted.error().message);
      return send(client, *client->tls, http_error(403, admitted.error().message));
    }
    spdlog::debug("metrics: no TLS with a client: {}", error.message());
    if (is_plain_http(error)) {
      return send(client, client->socket, http_error(400, "TLS is spoken here, ask https://"));
    }
    hang_up(client, client->socket);
  }

  void refresh_certificate() {
    const auto renewed = refresh(*certificate);
    std::string problem = renewed ? "" : renewed.error().message;
    // Once, not for each connection.
    if (!problem.empty() && problem != said) say_kept(problem);
    said = std::move(problem);
  }

  template <typename Stream>
  void receive(const Client& client, Stream& stream) {
    asio::async_read_until(
        stream, asio::dynamic_buffer(client->request, limits.head_bytes), "\r\n\r\n",
        [this, client, &stream](const std::error_code& error, std::size_t head_bytes) {
          if (error == asio::error::not_found) return send(client, stream, http_error(431));
          if (error) return close(client);
          send(client, stream, answer_to({client->request.data(), head_bytes}));
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

  template <typename Stream>
  void send(const Client& client, Stream& stream, std::string answer) {
    client->answer = std::move(answer);
    asio::async_write(stream, asio::buffer(client->answer),
                      [this, client, &stream](const std::error_code& error, std::size_t /*sent*/) {
                        if (error) return close(client);
                        hang_up(client, stream);
                      });
  }

  /// The peer is told that this was all, and may close then.
  void hang_up(const Client& client, Tls& stream) {
    stream.async_shutdown(
        [this, client](const std::error_code& /*error*/) { hang_up(client, client->socket); });
  }
  void hang_up(const Client& client, tcp::socket& socket) {
    std::error_code ignored;
    socket.shutdown(tcp::socket::shutdown_send, ignored);
    discard(client);
  }

  /// A socket that is closed while bytes from its peer lie unread is reset, and the answer may be
  /// lost: the peer is to close first.
  void discard(const Client& client) {
    client->socket.async_read_some(
        asio::buffer(client->discarded),
        [this, client](const std::error_code& error, std::size_t received) {
          client->discarded_bytes += received;
          if (error || client->discarded_bytes > kDiscardedBytes) return close(client);
          discard(client);
        });
  }

  /// Closes a connection. What waits on it is called with an error, and closes it once more.
  void close(const Client& client) {
    std::error_code ignored;
    client->socket.close(ignored);
    client->deadline.cancel();
    clients.remove(client);
  }

  const Collect collect;
  const std::shared_ptr<tls::ServerTls> certificate;  ///< null: plain HTTP
  const ServerLimits limits;
  std::string address;
  std::string said;  ///< why the certificate's files could not be read again; empty: they could
  asio::io_context context{1};
  tcp::acceptor acceptor{context};
  asio::steady_timer rest{context};
  std::list<Client> clients;  ///< the oldest first
  std::jthread thread;        // last: it uses all of the above
};

MetricsServer::MetricsServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

MetricsServer::~MetricsServer() { impl_->context.stop(); }

Expected<std::unique_ptr<MetricsServer>> MetricsServer::start(
    const std::string& address, Collect collect, std::shared_ptr<tls::ServerTls> certificate,
    const ServerLimits& limits) {
  try {
    auto impl = std::make_unique<Impl>(std::move(collect), std::move(certificate), limits);
    PARETO_TRY(with_context(impl->open(address), "metrics"));
    if (impl->certificate) say_warnings(*impl->certificate);
    impl->thread = std::jthread([raw = impl.get()] { raw->run(); });
    return std::unique_ptr<MetricsServer>(new MetricsServer(std::move(impl)));
  } catch (const std::exception& error) {
    return fail(ErrorCode::kExhausted, "metrics: {}", error.what());
  }
}

const std::string& MetricsServer::address() const { return impl_->address; }

std::string MetricsServer::url() const {
  return fmt::format("{}://{}/metrics", impl_->certificate ? "https" : "http", impl_->address);
}

void MetricsServer::refresh_certificate() const {
  if (!impl_->certificate) return;
  const auto renewed = refresh(*impl_->certificate);
  if (!renewed) say_kept(renewed.error().message);
}

}  // namespace pareto::metrics
