#include "coordinator/cluster/tls_problem.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <array>
#include <chrono>
#include <memory>
#include <string_view>

#include "core/base/broken_pipes.h"
#include "core/tls/complete_call.h"
#include "core/tls/utc_text.h"
#include "core/transport/socket.h"

namespace pareto::cluster {
namespace {

struct FreeConnection {
  void operator()(SSL* connection) const { SSL_free(connection); }
};

/// Returns the context for somebody without credentials, who only looks whether TLS is spoken.
std::shared_ptr<SSL_CTX> looking_context() {
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_NONE, nullptr);
  return context;
}

/// Returns "certificate has expired", as OpenSSL says what went wrong last.
std::string last_reason() {
  const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
  return reason != nullptr ? reason : "the connection was closed";
}

/// Returns why the daemon refuses this side, by its alert; empty if it does not.
std::string refusal(SSL& connection, TimePoint deadline) {
  char byte = 0;
  const auto read = tls::complete_call(connection, deadline,
                                       [&](SSL* reading) { return SSL_read(reading, &byte, 1); });
  if (!read || read->error != SSL_ERROR_SSL) return "";
  return fmt::format(
      "its daemon refuses your certificate ({}): it has to come from the same authority and be "
      "valid: paretoctl pki list says what was issued, paretoctl pki renew makes another",
      last_reason());
}

std::string judge_server(SSL& connection, const std::string& expected) {
  const auto identity = tls::Credentials::peer_of(connection);
  if (!identity) return "its certificate names no role: " + identity.error().message;
  if (identity->role != tls::Role::kDevice) {
    return fmt::format("{} answers there, and no device", tls::to_string(*identity));
  }
  if (!expected.empty() && identity->name != expected) {
    return fmt::format(
        "{} answers there, not {}: mend the address, or name it in the inventory (identity: {})",
        tls::to_string(*identity), expected, identity->name);
  }
  return "";
}

}  // namespace

std::string tls_problem(const std::string& address, const tls::Credentials* own,
                        const std::string& expected, TimePoint deadline) {
  const auto where = transport::parse_host_port(address);
  if (!where) return {};
  const QuietBrokenPipes quiet;
  const auto socket = transport::open_connection(*where, deadline);
  if (!socket) return {};
  const std::shared_ptr<SSL_CTX> context = own != nullptr ? own->context() : looking_context();
  const std::unique_ptr<SSL, FreeConnection> connection(SSL_new(context.get()));
  constexpr std::array<unsigned char, 3> kHttp2{2, 'h', '2'};
  SSL_set_alpn_protos(connection.get(), kHttp2.data(), kHttp2.size());
  SSL_set_fd(connection.get(), socket->get());
  const auto connected = tls::complete_call(*connection, deadline, SSL_connect);
  const int error = connected ? connected->error : SSL_ERROR_WANT_READ;
  if (error == SSL_ERROR_NONE && own == nullptr) {
    return "its daemon lets in only those who have credentials, and you have none: paretoctl pki "
           "init makes yours, --credentials names their folder";
  }
  const bool alerted = error == SSL_ERROR_SSL && last_reason().find("alert") != std::string::npos;
  if (own != nullptr && (error == SSL_ERROR_NONE || alerted) &&
      own->expiry() <= std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now())) {
    return fmt::format(
        "your certificate has expired ({}), so its daemon refuses it: paretoctl pki "
        "renew makes another",
        tls::utc_text(own->expiry()));
  }
  if (error == SSL_ERROR_NONE) {
    if (std::string why = judge_server(*connection, expected); !why.empty()) return why;
    return refusal(*connection, deadline);
  }
  if (const long verdict = SSL_get_verify_result(connection.get());
      own != nullptr && verdict != X509_V_OK) {
    return fmt::format(
        "its certificate does not hold ({}): paretod enroll makes another there, of "
        "the authority in {}",
        X509_verify_cert_error_string(verdict), own->folder().string());
  }
  if (alerted) {
    return fmt::format("its daemon refuses the connection ({})", last_reason());
  }
  // One that hangs up or stands still may be a daemon that ends, or one under load.
  if (own == nullptr || ERR_GET_REASON(ERR_peek_last_error()) != SSL_R_WRONG_VERSION_NUMBER) {
    return "";
  }
  return "its daemon speaks no TLS, so it has no credentials: paretoctl pki issue makes some; if "
         "that is meant, as in a test bed, say insecure: true in the inventory, or --insecure";
}

}  // namespace pareto::cluster
