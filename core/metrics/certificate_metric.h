// Metric that tells when a certificate expires.
#pragma once

#include "core/metrics/metric.h"
#include "core/tls/server_certificate.h"

namespace pareto::metrics {

/// Returns pareto_certificate_expiry_timestamp_seconds, without a sample if `certificate` is null.
/// Threads: any.
Family certificate_metric(const tls::ServerCertificate* certificate);

}  // namespace pareto::metrics
