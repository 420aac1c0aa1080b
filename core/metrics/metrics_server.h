// Serves metrics to any client, and to none for long: GET /metrics over HTTP or HTTPS, for
// Prometheus.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/metrics/metric.h"
#include "core/tls/server_tls.h"

namespace pareto::metrics {

/// The limits on what strangers may take.
struct ServerLimits {
  std::size_t head_bytes = std::size_t{8} << 10;  ///< bytes of a request, up to its empty line
  std::size_t connections = 64;  ///< connections at once; one more, and the oldest makes room
  /// The time from when a connection is taken until it is hung up on, TLS agreed on or not,
  /// answered or not: what Prometheus waits by default.
  Nanoseconds patience = std::chrono::seconds(10);
};

/// One request a connection. Serves from start() until it ends.
///
/// Threads: one of its own, which `collect` is called on; start and end from the owner.
class MetricsServer {
 public:
  /// Starts serving at `address`, "HOST:PORT"; port 0 picks one. If `collect` throws, the answer is
  /// 500. With a certificate the server speaks only TLS; without (null) plain HTTP. Fails:
  /// kInvalidArgument (no address), kPermission (port in use or not allowed), kExhausted.
  static Expected<std::unique_ptr<MetricsServer>> start(
      const std::string& address, Collect collect,
      std::shared_ptr<tls::ServerTls> certificate = nullptr, const ServerLimits& limits = {});
  /// Answers under way are cut off.
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  /// Returns "127.0.0.1:7073": numeric, with the real port.
  const std::string& address() const;
  /// Returns "https://127.0.0.1:7073/metrics".
  std::string url() const;

  /// Looks at the certificate's files now, and logs what came of it; each connection looks at them
  /// before it is taken. Threads: any.
  void refresh_certificate() const;

 private:
  struct Impl;
  explicit MetricsServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pareto::metrics
