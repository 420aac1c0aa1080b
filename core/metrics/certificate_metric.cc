#include "core/metrics/certificate_metric.h"

namespace pareto::metrics {

Family certificate_metric(const tls::ServerCertificate* certificate) {
  Family family{"pareto_certificate_expiry_timestamp_seconds",
                "When the first of the certificates shown expires, in seconds since 1970",
                Kind::kGauge,
                {}};
  if (certificate != nullptr) {
    const auto expiry = certificate->expiry().time_since_epoch().count();
    family.samples.push_back({{{"use", "metrics"}}, static_cast<double>(expiry), {}});
  }
  return family;
}

}  // namespace pareto::metrics
