#include "client/cluster/control_address.h"

#include "client/discovery/service_lookup.h"

namespace pareto::client {

Expected<> check_control_address(const std::string& address) {
  if (address.starts_with("unix:/")) return {};
  if (address.starts_with(kServiceScheme)) return check_service_address(address);
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == address.size() ||
      address.find_first_not_of("0123456789", colon + 1) != std::string::npos) {
    return fail(ErrorCode::kInvalidArgument,
                "\"{}\" is neither HOST:PORT nor srv:_SERVICE._tcp.DOMAIN nor unix:/FILE", address);
  }
  return {};
}

}  // namespace pareto::client
