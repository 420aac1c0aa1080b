#include "core/metrics/certificate_metric.h"

namespace pareto::metrics {

Family certificate_metric(const tls::ServerTls* certificate) {
  Family family{"pareto_certificate_expiry_timestamp_seconds",
                "When the first of the certificates shown expires, in seconds since 1970",
                Kind::kGauge,
                {}};
  if (certificate != nullptr) add_expiry(family, "metrics", certificate->expiry());
  return family;
}

void add_expiry(Family& family, const std::string& use, std::chrono::sys_seconds expiry) {
  family.samples.push_back(
      {{{"use", use}}, static_cast<double>(expiry.time_since_epoch().count()), {}});
}

}  // namespace pareto::metrics
