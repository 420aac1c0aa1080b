// Metric that tells when a certificate expires.
#pragma once

#include <chrono>
#include <string>

#include "core/metrics/metric.h"
#include "core/tls/server_tls.h"

namespace pareto::metrics {

/// Returns pareto_certificate_expiry_timestamp_seconds, without a sample if `certificate` is null.
/// Threads: any.
Family certificate_metric(const tls::ServerTls* certificate);
/// Adds another certificate in use to that metric. `use`: "control".
void add_expiry(Family& family, const std::string& use, std::chrono::sys_seconds expiry);

}  // namespace pareto::metrics
