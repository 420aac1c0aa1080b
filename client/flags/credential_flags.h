// The flags for how devices are reached: --credentials and --insecure.
#pragma once

#include <vector>

#include "client/command.h"
#include "coordinator/cluster/own_credentials.h"

namespace pareto::client {

struct CredentialFlags {
  cluster::CredentialsChoice choice;

  void add_to(CLI::App& app);
  /// Gives devices the credentials to reach them by; if the flags name none, those of the
  /// environment (PARETO_CREDENTIALS). Fails: as cluster::give_credentials.
  Expected<> apply(const Context& context, std::vector<cluster::DeviceConfig>& devices) const;
};

}  // namespace pareto::client
