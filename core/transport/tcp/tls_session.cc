#include "core/transport/tcp/tls_session.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/transport/socket.h"
#include "core/transport/tcp/tls_ciphers.h"
#include "core/transport/tcp/tls_failure.h"

namespace pareto::transport::tcp {
namespace {

/// Bytes in the outbox that are enough for one call of the kernel. Fewer cost calls; more leave the
/// processor's cache before they are sent.
constexpr std::size_t kPacketBytes = 256 << 10;
/// Bytes that OpenSSL reads at once, records and what they are wrapped in.
constexpr std::size_t kReadAheadBytes = (64 << 10) + 4096;

int append_to_outbox(BIO* bio, const char* data, std::size_t size, std::size_t* written) {
  auto& outbox = *static_cast<std::vector<std::byte>*>(BIO_get_data(bio));
  const auto* const bytes = reinterpret_cast<const std::byte*>(data);
  outbox.insert(outbox.end(), bytes, bytes + size);
  *written = size;
  return 1;
}

long control_outbox(BIO* /*bio*/, int command, long /*number*/, void* /*pointer*/) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

/// Returns how OpenSSL writes into an outbox.
const BIO_METHOD* outbox_method() {
  static const std::unique_ptr<BIO_METHOD, decltype(&BIO_meth_free)> kMethod = [] {
    std::unique_ptr<BIO_METHOD, decltype(&BIO_meth_free)> method(
        BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "outbox"), &BIO_meth_free);
    BIO_meth_set_write_ex(method.get(), append_to_outbox);
    BIO_meth_set_ctrl(method.get(), control_outbox);
    return method;
  }();
  return kMethod.get();
}

std::span<const std::byte> bytes_of(const iovec& part) {
  return {static_cast<const std::byte*>(part.iov_base), part.iov_len};
}

}  // namespace

void TlsSession::FreeSsl::operator()(ssl_st* ssl) const { SSL_free(ssl); }

Expected<std::unique_ptr<TlsSession>> TlsSession::open(const FileDescriptor& socket,
                                                       const tls::Credentials& credentials,
                                                       TlsSide side,
                                                       std::uint64_t records_per_key) {
  std::unique_ptr<TlsSession> session(new TlsSession(socket, records_per_key));
  session->ssl_.reset(SSL_new(credentials.context().get()));
  BIO* const in = BIO_new_socket(socket.get(), BIO_NOCLOSE);
  BIO* const out = BIO_new(outbox_method());
  if (!session->ssl_ || in == nullptr || out == nullptr) {
    BIO_free(in);
    BIO_free(out);
    ERR_clear_error();
    return fail(ErrorCode::kExhausted, "no memory for a TLS connection");
  }
  BIO_set_data(out, &session->outbox_);
  BIO_set_init(out, 1);
  SSL* const ssl = session->ssl_.get();
  SSL_set_bio(ssl, in, out);
  SSL_set_ciphersuites(ssl, preferred_ciphers());
  SSL_set_options(ssl, SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
  SSL_set_read_ahead(ssl, 1);
  // A stranger's handshake leaves no buffer behind.
  SSL_set_mode(ssl, SSL_MODE_RELEASE_BUFFERS);
  side == TlsSide::kConnecting ? SSL_set_connect_state(ssl) : SSL_set_accept_state(ssl);
  return session;
}

TlsSession::TlsSession(const FileDescriptor& socket, std::uint64_t records_per_key)
    : socket_(socket.get()), records_per_key_(records_per_key) {}

TlsSession::~TlsSession() = default;

Expected<bool> TlsSession::handshake() {
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_.get());
  if (result != 1) {
    if (SSL_get_error(ssl_.get(), result) == SSL_ERROR_WANT_READ) return false;
    return tl::unexpected(failure(result));
  }
  if (std::exchange(established_, true)) return true;
  // From here on buffers stay, and are as large as a stream of messages wants them.
  SSL_clear_mode(ssl_.get(), SSL_MODE_RELEASE_BUFFERS);
  SSL_set_default_read_buffer_len(ssl_.get(), kReadAheadBytes);
  return true;
}

Expected<tls::Identity> TlsSession::peer() const { return tls::Credentials::peer_of(*ssl_); }
std::string TlsSession::peer_chain() const { return tls::Credentials::chain_of(*ssl_); }

Expected<std::size_t> TlsSession::encrypt(std::span<const iovec> parts) {
  std::size_t taken = 0;
  std::size_t gathered = 0;
  for (const iovec& part : parts) {
    std::span<const std::byte> bytes = bytes_of(part);
    while (!bytes.empty()) {
      if (gathered == 0 && outbox_.size() - unsent_from_ >= kPacketBytes) return taken;
      const std::size_t some = std::min(bytes.size(), kRecordBytes - gathered);
      if (some == kRecordBytes) {
        PARETO_TRY(seal(bytes.first(some)));
      } else {
        std::memcpy(gathered_.data() + gathered, bytes.data(), some);
        gathered += some;
        if (gathered == kRecordBytes) PARETO_TRY(seal(gathered_));
        gathered %= kRecordBytes;
      }
      taken += some;
      bytes = bytes.subspan(some);
    }
  }
  if (gathered > 0) PARETO_TRY(seal(std::span(gathered_).first(gathered)));
  return taken;
}

Expected<> TlsSession::seal(std::span<const std::byte> bytes) {
  ERR_clear_error();
  if (++records_ > records_per_key_) {
    records_ = 1;
    ++key_changes_;
    SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_NOT_REQUESTED);
  }
  std::size_t written = 0;
  const int result = SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &written);
  if (result != 1) return tl::unexpected(failure(result));
  return {};
}

Expected<std::optional<std::size_t>> TlsSession::decrypt(std::span<std::byte> into) {
  ERR_clear_error();
  std::size_t got = 0;
  const int result = SSL_read_ex(ssl_.get(), into.data(), into.size(), &got);
  if (result == 1) return got;
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return std::nullopt;
    case SSL_ERROR_ZERO_RETURN:
      return 0;
    default:
      return tl::unexpected(failure(result));
  }
}

void TlsSession::end() {
  ERR_clear_error();
  SSL_shutdown(ssl_.get());
  ERR_clear_error();
}

Expected<bool> TlsSession::flush() {
  while (has_unsent()) {
    const auto unsent = std::span(outbox_).subspan(unsent_from_);
    const ssize_t sent = ::send(socket_, unsent.data(), unsent.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      unsent_from_ += static_cast<std::size_t>(sent);
      continue;
    }
    const int number = errno;
    if (number == EAGAIN) return false;
    if (number == EINTR) continue;
    if (number == EPIPE) return fail(ErrorCode::kClosed, "the peer closed the link");
    return tl::unexpected(broken_connection(number));
  }
  outbox_.clear();
  unsent_from_ = 0;
  return true;
}

Expected<> TlsSession::look_ahead() {
  ERR_clear_error();
  std::byte next{};
  std::size_t got = 0;
  const int result = SSL_peek_ex(ssl_.get(), &next, 1, &got);
  if (result == 1) return {};
  const int kind = SSL_get_error(ssl_.get(), result);
  if (kind == SSL_ERROR_WANT_READ || kind == SSL_ERROR_ZERO_RETURN) return {};
  return tl::unexpected(failure(result));
}

Error TlsSession::failure(int result) {
  const int number = errno;
  return tls_failure(*ssl_, SSL_get_error(ssl_.get(), result), number, established_);
}

}  // namespace pareto::transport::tcp
