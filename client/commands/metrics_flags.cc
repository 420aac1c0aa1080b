#include "client/commands/metrics_flags.h"

#include <CLI/CLI.hpp>
#include <ostream>
#include <utility>

namespace pareto::client {

void MetricsFlags::add_to(CLI::App& app) {
  auto* served = app.add_option(
      "--metrics", address, "HOST:PORT: answer GET /metrics for Prometheus there while it runs");
  app.add_option("--metrics-certificate", tls.certificate,
                 "FILE, PEM: answer over TLS with this certificate")
      ->needs(served);
  app.add_option("--metrics-key", tls.key, "FILE, PEM: the key of --metrics-certificate")
      ->needs(served);
  app.add_option("--metrics-client-ca", tls.client_ca,
                 "FILE, PEM: answer those alone whose certificate one of these signed")
      ->needs(served);
}

Expected<std::unique_ptr<metrics::MetricsServer>> MetricsFlags::serve(
    Context& context, metrics::Collect collect) const {
  if (address.empty()) return nullptr;
  PARETO_ASSIGN(auto certificate, with_context(metrics::ServerCertificate::load(tls), "metrics"));
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
