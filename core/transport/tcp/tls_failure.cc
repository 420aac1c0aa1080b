#include "core/transport/tcp/tls_failure.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <sys/socket.h>

#include <array>
#include <string>

#include "core/transport/socket.h"

namespace pareto::transport::tcp {
namespace {

/// Returns what helps against a certificate that does not hold.
std::string remedy_for(long verified) {
  switch (verified) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return ": paretoctl pki renew makes another";
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return ": is the clock of one of the two machines wrong?";
    case X509_V_ERR_CERT_REVOKED:
      return ": its authority took it back";
    default:
      return ": both sides need certificates of one authority (paretoctl pki issue)";
  }
}

Error refused_by_this_side(const SSL& connection) {
  const long verified = SSL_get_verify_result(&connection);
  return {ErrorCode::kPermission,
          fmt::format("the peer's certificate is refused: {}{}",
                      X509_verify_cert_error_string(verified), remedy_for(verified))};
}

/// Returns the error that an alert of the peer stands for.
Error told_by_peer(int alert, bool established) {
  const std::string text = SSL_alert_desc_string_long(alert);
  switch (alert) {
    case SSL_AD_BAD_CERTIFICATE:
    case SSL_AD_UNSUPPORTED_CERTIFICATE:
    case SSL_AD_CERTIFICATE_REVOKED:
    case SSL_AD_CERTIFICATE_EXPIRED:
    case SSL_AD_CERTIFICATE_UNKNOWN:
    case SSL_AD_UNKNOWN_CA:
    case SSL_AD_ACCESS_DENIED:
    case SSL_AD_CERTIFICATE_REQUIRED:
    case SSL_AD_DECRYPT_ERROR:  // the signature of another authority that has the same name
      return {ErrorCode::kPermission,
              fmt::format("the peer refuses this side's certificate: {}", text)};
    case SSL_AD_BAD_RECORD_MAC:
    case SSL_AD_DECODE_ERROR:
    case SSL_AD_RECORD_OVERFLOW:
    case SSL_AD_UNEXPECTED_MESSAGE:
    case SSL_AD_ILLEGAL_PARAMETER:
      return {ErrorCode::kCorrupt,
              fmt::format("bytes were changed on their way to the peer, which says: {}", text)};
    case SSL_AD_PROTOCOL_VERSION:
      return speaks_no_tls();
    default:
      return {established ? ErrorCode::kUnavailable : ErrorCode::kPermission,
              fmt::format("the peer ends TLS: {}", text)};
  }
}

}  // namespace

Error broken_connection(int number) {
  return {ErrorCode::kUnavailable, fmt::format("the connection broke: {}", errno_text(number))};
}

Error tls_failure(ssl_st& connection, int kind, int number, bool established) {
  // TLS's own word comes last, after what it stumbled over.
  const unsigned long last = ERR_peek_last_error();
  const int reason = ERR_GET_LIB(last) == ERR_LIB_SSL ? ERR_GET_REASON(last) : 0;
  const char* const text = ERR_reason_error_string(last);
  ERR_clear_error();
  const bool ended = (kind == SSL_ERROR_SYSCALL && number == 0) ||
                     (kind == SSL_ERROR_SSL && reason == SSL_R_UNEXPECTED_EOF_WHILE_READING);
  if (ended && !established) {
    return {ErrorCode::kUnavailable, "the peer hung up before TLS was agreed on"};
  }
  if (ended) {
    return {ErrorCode::kUnavailable,
            "the connection broke: it ended without TLS's farewell, so its last bytes may be "
            "missing"};
  }
  if (kind == SSL_ERROR_SYSCALL) return broken_connection(number);
  if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED) return refused_by_this_side(connection);
  if (reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE) {
    return {ErrorCode::kPermission,
            "the peer shows no certificate: it needs one of the same authority (paretoctl pki "
            "issue)"};
  }
  // A server of another protocol may speak first, before anybody has looked at its first byte.
  if (!established && reason == SSL_R_WRONG_VERSION_NUMBER) return speaks_no_tls();
  if (reason > SSL_AD_REASON_OFFSET) {
    return told_by_peer(reason - SSL_AD_REASON_OFFSET, established);
  }
  return {ErrorCode::kCorrupt,
          fmt::format("{}: {}",
                      established ? "bytes were changed on their way" : "no TLS 1.3 was agreed on",
                      text == nullptr ? "unknown reason" : text)};
}

void send_version_alert(const FileDescriptor& socket) {
  // An alert, of version 1.2 as all records say, of two bytes: fatal, protocol version.
  constexpr std::array<unsigned char, 7> kAlert{21, 3, 3, 0, 2, 2, SSL_AD_PROTOCOL_VERSION};
  static_cast<void>(
      ::send(socket.get(), kAlert.data(), kAlert.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
}

Error speaks_no_tls() {
  return {ErrorCode::kPermission,
          "the peer speaks no TLS 1.3, which this side demands: it needs credentials of the same "
          "authority (paretoctl pki issue)"};
}

Error speaks_tls() {
  return {ErrorCode::kPermission,
          "the peer speaks TLS, and this side has no credentials: name a folder of them "
          "(--credentials)"};
}

}  // namespace pareto::transport::tcp
