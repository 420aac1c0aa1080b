// The coordinator's own credentials: which folder, and for which devices.
#pragma once

#include <string>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "core/base/error.h"

namespace pareto::cluster {

/// Credentials for devices that name none themselves.
struct CredentialsChoice {
  std::string folder;     ///< "": the usual one, if it is there
  bool insecure = false;  ///< without TLS, although they are reached over a network
};

/// Gives devices the credentials to reach them by. Fails: kInvalidArgument (both choices at once),
/// and as tls::Credentials::open; without the usual folder there are none, and that is no error.
Expected<> give_credentials(const CredentialsChoice& choice, std::vector<DeviceConfig>& devices);

}  // namespace pareto::cluster
