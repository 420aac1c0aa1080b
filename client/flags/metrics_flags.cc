#include "client/flags/metrics_flags.h"

#include <CLI/CLI.hpp>
#include <ostream>
#include <utility>

#include "core/base/usage.h"
#include "core/metrics/certificate_metric.h"

namespace pareto::client {

void MetricsFlags::add_to(CLI::App& app) {
  const Heading heading(app, "Metrics");
  auto* served = set_value(app.add_option("--metrics", address,
                                          "address at which GET /metrics is answered for "
                                          "Prometheus while this runs"),
                           "HOST:PORT");
  set_value(app.add_option("--metrics-certificate", tls.certificate,
                           "certificate (PEM) to answer with over TLS"),
            "FILE")
      ->needs(served);
  set_value(app.add_option("--metrics-key", tls.key, "key (PEM) of --metrics-certificate"), "FILE")
      ->needs(served);
  set_value(app.add_option("--metrics-client-ca", tls.client_ca,
                           "certificates (PEM), one of which has to have signed a client's"),
            "FILE")
      ->needs(served);
}

Expected<std::unique_ptr<metrics::MetricsServer>> MetricsFlags::serve(
    Context& context, metrics::Collect collect) const {
  if (address.empty()) return nullptr;
  PARETO_ASSIGN(auto certificate, with_context(tls::ServerCertificate::load(tls), "metrics"));
  const auto with_certificate = [collect = std::move(collect), shown = certificate.get()] {
    metrics::Families families = collect();
    families.push_back(metrics::certificate_metric(shown));
    return families;
  };
  PARETO_ASSIGN(auto server, metrics::MetricsServer::start(address, with_certificate, certificate));
  context.err << fmt::format("metrics at {}\n", server->url()) << std::flush;
  return server;
}

}  // namespace pareto::client
