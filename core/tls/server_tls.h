// TLS of the connections that a server takes, and who may come.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"

struct ssl_ctx_st;  // OpenSSL's SSL_CTX
struct ssl_st;      // OpenSSL's SSL

namespace pareto::tls {

/// A certificate with its key, and a rule for clients. Threads: any.
class ServerTls {
 public:
  virtual ~ServerTls() = default;

  /// Reads the files if they are not those in use. True: what they hold is in use now. Fails: if
  /// they cannot be used; what was in use stays so.
  virtual Expected<bool> refresh() = 0;
  /// Returns the context for one connection, which keeps what it began with.
  virtual std::shared_ptr<ssl_ctx_st> context() const = 0;
  /// Judges a client after its handshake. Fails: kPermission.
  virtual Expected<> admit(ssl_st& connection) const = 0;
  /// Returns when the first of the certificates shown expires.
  virtual std::chrono::sys_seconds expiry() const = 0;
  /// Returns what is in use although somebody should look at it.
  virtual std::vector<std::string> warnings() const = 0;
};

}  // namespace pareto::tls
