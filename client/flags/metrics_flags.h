// --metrics and the files that make it TLS, for commands that answer Prometheus while they run.
#pragma once

#include <memory>
#include <string>

#include "client/command.h"
#include "core/base/error.h"
#include "core/metrics/metrics_server.h"
#include "core/tls/server_certificate.h"

namespace pareto::client {

struct MetricsFlags {
  std::string address;
  tls::CertificateFiles tls;

  void add_to(CLI::App& app);
  /// Serves what `collect` returns, and the certificate's own figures, and says where on stderr.
  /// Null: no address was given. Fails: as ServerCertificate::load() and MetricsServer::start().
  Expected<std::unique_ptr<metrics::MetricsServer>> serve(Context& context,
                                                          metrics::Collect collect) const;
};

}  // namespace pareto::client
