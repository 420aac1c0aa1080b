// The coordinator's own credentials: which folder, and for which devices.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/tls/fresh_credentials.h"

namespace pareto::cluster {

/// Credentials for devices that name none themselves.
struct CredentialsChoice {
  std::string folder;     ///< "": the usual one, if it is there
  bool insecure = false;  ///< without TLS, although they are reached over a network
  /// Hears, from another thread, why changed files cannot be used.
  std::function<void(const Error&)> complain = [](const Error&) {};
  Nanoseconds refresh_every = tls::kRefreshEvery;
};

/// Gives devices the credentials to reach them by. Files that change are read again for as long as
/// a device has them. Fails: kInvalidArgument (both choices at once),
/// and as tls::Credentials::open; without the usual folder there are none, and that is no error.
Expected<> give_credentials(const CredentialsChoice& choice, std::vector<DeviceConfig>& devices);

}  // namespace pareto::cluster
