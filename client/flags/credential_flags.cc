#include "client/flags/credential_flags.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "core/base/usage.h"

namespace pareto::client {

void CredentialFlags::add_to(CLI::App& app) {
  const Heading heading(app, "Devices");
  set_value(
      app.add_option("--credentials", choice.folder,
                     "folder of your certificate, its key and its authority, as paretoctl pki "
                     "init makes it (environment: PARETO_CREDENTIALS; default: "
                     "~/.config/pareto-edge/credentials, if it is there)"),
      "FOLDER");
  app.add_flag("--insecure", choice.insecure,
               "reach devices without TLS, for test beds whose daemons let everybody in");
}

Expected<> CredentialFlags::apply(const Context& context,
                                  std::vector<cluster::DeviceConfig>& devices) const {
  cluster::CredentialsChoice settled = choice;
  if (settled.folder.empty() && !settled.insecure) settled.folder = context.credentials;
  settled.complain = [](const Error& error) {
    const std::string line =
        fmt::format("warning: {}; those that are in use stay in use\n", error.message);
    std::fputs(line.c_str(), stderr);
  };
  return with_context(cluster::give_credentials(settled, devices), "--credentials");
}

}  // namespace pareto::client
