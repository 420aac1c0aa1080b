// Where a daemon's control service is, as people write it.
#pragma once

#include <string>

#include "core/base/error.h"

namespace pareto::client {

/// HOST:PORT, a file (unix:/…), or a service that DNS knows (srv:…). Fails: kInvalidArgument naming it.
Expected<> check_control_address(const std::string& address);

}  // namespace pareto::client
