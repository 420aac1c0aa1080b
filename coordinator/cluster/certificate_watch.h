// Judges a daemon again when this side's credentials have changed: a connection stays open for
// longer than a list of those taken back is the newest.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "coordinator/cluster/cluster.h"
#include "core/base/error.h"
#include "core/tls/credentials.h"

namespace grpc {
class ClientContext;
}

namespace pareto::cluster {

/// The daemon at the other end of a channel, whose every connection is judged when it begins
/// (core/transport/grpc/secure.h).
///
/// Threads: any.
class CertificateWatch {
 public:
  /// `own`: credentials of the channel; null: it has none, and nobody is judged. `config`: names
  /// the daemon, and outlives this.
  CertificateWatch(const DeviceConfig& config, std::shared_ptr<const tls::Credentials> own)
      : config_(config), own_(std::move(own)) {}

  /// Judges who has answered a call. No value: there are no credentials. Fails: kPermission.
  Expected<std::optional<tls::Identity>> identity(const grpc::ClientContext& answered) const;
  /// Judges the same if credentials have changed since the last time. Fails: kPermission, at each
  /// call then.
  Expected<> check(const grpc::ClientContext& answered);

 private:
  const DeviceConfig& config_;
  const std::shared_ptr<const tls::Credentials> own_;
  std::mutex mutex_;
  std::shared_ptr<ssl_ctx_st> judged_by_;  ///< credentials that judged the daemon last
};

}  // namespace pareto::cluster
