// The connection over which a device enrols: TLS 1.3 on a socket, a few short messages.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/clock.h"
#include "core/base/digest.h"
#include "core/base/error.h"

struct ssl_ctx_st;  // OpenSSL's SSL_CTX

namespace pareto::tls {

/// Messages over TLS, each behind its size. The socket does not block, is connected, and outlives
/// the channel. To shut it down ends what the channel waits for.
///
/// Threads: one owner. It has to ignore or block SIGPIPE.
class EnrolmentChannel {
 public:
  /// Shakes hands as a server. Fails: kPermission (the other side speaks no TLS 1.3, or refuses
  /// this one), kClosed, kTimeout.
  static Expected<std::unique_ptr<EnrolmentChannel>> accept(int socket, ssl_ctx_st& context,
                                                            Deadline deadline);
  /// Shakes hands as a device that believes the authority with this digest, and nobody else. Fails:
  /// kPermission (the server has no certificate of it for enrolling, or speaks no TLS 1.3),
  /// kClosed, kTimeout.
  static Expected<std::unique_ptr<EnrolmentChannel>> connect(int socket, const Digest& authority,
                                                             Deadline deadline);
  /// Says that no more comes, unless the connection has failed.
  ~EnrolmentChannel();
  EnrolmentChannel(const EnrolmentChannel&) = delete;
  EnrolmentChannel& operator=(const EnrolmentChannel&) = delete;

  Expected<> send(std::string_view message, Deadline deadline);
  /// Receives one message, of at most `limit_bytes`. Fails: kCorrupt (a longer message, before
  /// memory is allocated), kClosed, kTimeout.
  Expected<std::string> receive(std::size_t limit_bytes, Deadline deadline);
  /// Returns a secret that the two ends of this connection share, and nobody else.
  Digest binding() const;

 private:
  struct Impl;
  explicit EnrolmentChannel(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pareto::tls
