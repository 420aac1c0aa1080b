#include "core/tls/enrolment_channel.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <functional>
#include <new>
#include <span>
#include <utility>

#include "core/base/file.h"
#include "core/tls/complete_call.h"
#include "core/tls/enrolment.h"
#include "core/tls/signing.h"

namespace pareto::tls {
namespace {

constexpr std::size_t kSizeBytes = 4;
constexpr std::string_view kBindingLabel = "EXPORTER-pareto-edge-enrolment";

/// Whom a device believes, and why it did not.
struct Belief {
  Digest authority;
  std::string problem;
};

/// Finds a certificate by its digest; null: it is not there.
X509* find_certificate(const STACK_OF(X509) * chain, const Digest& digest) {
  for (int i = 0; i < sk_X509_num(chain); ++i) {
    X509* const one = sk_X509_value(chain, i);
    if (certificate_digest(*one) == digest) return one;
  }
  return nullptr;
}

/// Verifies the server's certificate against the one authority that the device believes.
int verify_enrolment(X509_STORE_CTX* offered, void* believed) {
  Belief& belief = *static_cast<Belief*>(believed);
  X509* const leaf = X509_STORE_CTX_get0_cert(offered);
  X509* const authority =
      find_certificate(X509_STORE_CTX_get0_untrusted(offered), belief.authority);
  X509_STORE_CTX_set_error(offered, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY);
  if (authority == nullptr) {
    belief.problem =
        "the server there is not of the authority that the fingerprint names: compare --authority "
        "with what paretoctl pki issue prints. If it is right, somebody else answers at this "
        "address";
    return 0;
  }
  const std::unique_ptr<X509_STORE, FreedBy<X509_STORE_free>> store(X509_STORE_new());
  const std::unique_ptr<X509_STORE_CTX, FreedBy<X509_STORE_CTX_free>> check(X509_STORE_CTX_new());
  if (!store || !check || X509_STORE_add_cert(store.get(), authority) != 1 ||
      X509_STORE_CTX_init(check.get(), store.get(), leaf, nullptr) != 1 ||
      X509_STORE_CTX_set_purpose(check.get(), X509_PURPOSE_SSL_SERVER) != 1) {
    belief.problem = openssl_reason();
    return 0;
  }
  X509_VERIFY_PARAM* const wanted = X509_STORE_CTX_get0_param(check.get());
  if (X509_VERIFY_PARAM_set1_host(wanted, kEnrolmentName.data(), kEnrolmentName.size()) == 1 &&
      X509_verify_cert(check.get()) == 1) {
    X509_STORE_CTX_set_error(offered, X509_V_OK);
    return 1;
  }
  const int error = X509_STORE_CTX_get_error(check.get());
  X509_STORE_CTX_set_error(offered, error);
  const bool of_time =
      error == X509_V_ERR_CERT_NOT_YET_VALID || error == X509_V_ERR_CERT_HAS_EXPIRED;
  belief.problem =
      fmt::format("the certificate of the server there is not valid: {}{}",
                  X509_verify_cert_error_string(error),
                  of_time ? " by the clock of this device: is it right? (timedatectl shows it)"
                          : ": the authority did not make it for enrolling devices");
  return 0;
}

std::shared_ptr<SSL_CTX> device_context(Belief& belief) {
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  if (!context) throw std::bad_alloc();
  SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_cert_verify_callback(context.get(), verify_enrolment, &belief);
  return context;
}

bool speaks_no_tls(unsigned long error) {
  switch (ERR_GET_REASON(error)) {
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_HTTP_REQUEST:
    case SSL_R_HTTPS_PROXY_REQUEST:
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_PACKET_LENGTH_TOO_LONG:
    case SSL_R_RECORD_LENGTH_MISMATCH:
    case SSL_R_UNEXPECTED_MESSAGE:
      return ERR_GET_LIB(error) == ERR_LIB_SSL;
    default:
      return false;
  }
}

}  // namespace

struct EnrolmentChannel::Impl {
  std::shared_ptr<SSL> connection;
  bool failed = false;

  Impl(int socket, SSL_CTX& context) : connection(SSL_new(&context), SSL_free) {
    if (!connection || SSL_set_fd(connection.get(), socket) != 1) throw std::bad_alloc();
  }

  /// Repeats one of OpenSSL's calls until it is done; returns what it returns.
  Expected<int> drive(const std::function<int(SSL*)>& call, Deadline deadline) {
    PARETO_ASSIGN(const CompletedCall done, complete_call(*connection, deadline, call));
    if (done.error == SSL_ERROR_NONE) return done.result;
    failed = done.error != SSL_ERROR_ZERO_RETURN;
    return tl::unexpected(reason_of(done.error));
  }

  static Error reason_of(int kind) {
    const unsigned long error = ERR_peek_last_error();
    const bool just_ended = kind == SSL_ERROR_ZERO_RETURN || kind == SSL_ERROR_SYSCALL ||
                            (ERR_GET_LIB(error) == ERR_LIB_SSL &&
                             ERR_GET_REASON(error) == SSL_R_UNEXPECTED_EOF_WHILE_READING);
    const bool no_tls = speaks_no_tls(error);
    const bool not_believed =
        ERR_GET_LIB(error) == ERR_LIB_SSL && ERR_GET_REASON(error) == SSL_R_TLSV1_ALERT_UNKNOWN_CA;
    const std::string text = openssl_reason();
    if (just_ended) return {ErrorCode::kClosed, "the other side ended the connection"};
    if (no_tls) return {ErrorCode::kPermission, "the other side does not speak TLS 1.3"};
    if (not_believed) {
      return {ErrorCode::kPermission,
              "the device does not believe this authority: compare its --authority"};
    }
    return {ErrorCode::kPermission, "TLS: " + text};
  }

  Expected<> read_all(std::span<char> into, Deadline deadline) {
    while (!into.empty()) {
      PARETO_ASSIGN(
          const int count,
          drive([&](SSL* ssl) { return SSL_read(ssl, into.data(), static_cast<int>(into.size())); },
                deadline));
      into = into.subspan(static_cast<std::size_t>(count));
    }
    return {};
  }
};

EnrolmentChannel::EnrolmentChannel(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

EnrolmentChannel::~EnrolmentChannel() {
  if (!impl_->failed && SSL_is_init_finished(impl_->connection.get()) == 1) {
    SSL_shutdown(impl_->connection.get());
  }
  ERR_clear_error();
}

Expected<std::unique_ptr<EnrolmentChannel>> EnrolmentChannel::accept(int socket, SSL_CTX& context,
                                                                     Deadline deadline) {
  auto impl = std::make_unique<Impl>(socket, context);
  PARETO_TRY(impl->drive(SSL_accept, deadline));
  return std::unique_ptr<EnrolmentChannel>(new EnrolmentChannel(std::move(impl)));
}

Expected<std::unique_ptr<EnrolmentChannel>> EnrolmentChannel::connect(int socket,
                                                                      const Digest& authority,
                                                                      Deadline deadline) {
  Belief belief{authority, ""};
  const std::shared_ptr<SSL_CTX> context = device_context(belief);
  auto impl = std::make_unique<Impl>(socket, *context);
  auto done = impl->drive(SSL_connect, deadline);
  if (!belief.problem.empty()) return fail(ErrorCode::kPermission, "{}", belief.problem);
  PARETO_TRY(done);
  return std::unique_ptr<EnrolmentChannel>(new EnrolmentChannel(std::move(impl)));
}

Expected<> EnrolmentChannel::send(std::string_view message, Deadline deadline) {
  std::string bytes;
  for (std::size_t i = kSizeBytes; i-- > 0;) {
    bytes += static_cast<char>(message.size() >> (8 * i) & 0xff);
  }
  bytes += message;
  // Without partial writes, a call that succeeds has written all.
  return impl_
      ->drive(
          [&](SSL* ssl) { return SSL_write(ssl, bytes.data(), static_cast<int>(bytes.size())); },
          deadline)
      .map([](int) {});
}

Expected<std::string> EnrolmentChannel::receive(std::size_t limit_bytes, Deadline deadline) {
  std::array<char, kSizeBytes> head{};
  PARETO_TRY(impl_->read_all(head, deadline));
  std::size_t size = 0;
  for (const char byte : head) size = size << 8 | static_cast<unsigned char>(byte);
  if (size > limit_bytes) {
    return fail(ErrorCode::kCorrupt, "a message of {} bytes: at most {} are read", size,
                limit_bytes);
  }
  std::string message(size, '\0');
  PARETO_TRY(impl_->read_all(message, deadline));
  return message;
}

Digest EnrolmentChannel::binding() const {
  Digest binding;
  auto* const raw = reinterpret_cast<unsigned char*>(binding.bytes.data());
  if (SSL_export_keying_material(impl_->connection.get(), raw, binding.bytes.size(),
                                 kBindingLabel.data(), kBindingLabel.size(), nullptr, 0, 0) != 1) {
    throw std::bad_alloc();
  }
  return binding;
}

}  // namespace pareto::tls
