// Who may come in, as the settings say: credentials, and the addresses that are served with or
// without them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/tls/credentials.h"
#include "core/tls/server_tls.h"
#include "daemon/config.h"

namespace pareto::daemon {

/// The addresses that a daemon serves, once its credentials are known: "auto" is replaced.
struct Access {
  std::shared_ptr<tls::Credentials> credentials;  ///< null: there are none
  std::string listen;
  std::vector<DataAddress> data;

  /// Returns how metrics are served: with the files that the settings name, else with the
  /// credentials, for coordinators and observers. Null: without TLS. Fails: as
  /// ServerCertificate::load().
  Expected<std::shared_ptr<tls::ServerTls>> metrics_tls(const DaemonConfig& config) const;
};

/// Opens the credentials and settles the addresses. A folder that holds no certificate yet counts
/// as none. Without credentials an address that other machines reach is refused, unless everybody
/// is let in on purpose.
/// Fails: kInvalidArgument (such an address, with the two commands that make credentials; insecure
/// next to credentials; files that are none), kPermission.
Expected<Access> settle_access(const DaemonConfig& config);

/// Returns the file of the Unix socket for users of this machine; "" if there is to be none.
/// `state_dir`: the folder of the daemon's state. Sets no more than a path: nothing is made.
std::string user_socket(const DaemonConfig& config, const std::string& state_dir);

}  // namespace pareto::daemon
