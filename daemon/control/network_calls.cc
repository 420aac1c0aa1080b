#include "daemon/control/network_calls.h"

#include <chrono>
#include <cstddef>

#include "core/plan/condition.h"
#include "core/transport/address.h"
#include "daemon/control/caller.h"

namespace pareto::daemon {

namespace v1 = control::v1;

namespace {

/// The largest condition, in bytes: a long trace.
constexpr std::size_t kMaxConditionBytes = 8 << 20;

}  // namespace

Expected<> emulate_network(NetworkLease& network, const std::string& peer,
                           const v1::EmulateRequest& request, v1::EmulateReply& reply) {
  if (request.end()) return network.end(request.lease());
  Lease lease;
  if (request.lease() != 0) {
    PARETO_ASSIGN(lease, network.renew(request.lease()));
  } else {
    PARETO_TRY(network.check_allowed());
    if (request.condition().size() > kMaxConditionBytes) {
      return fail(ErrorCode::kInvalidArgument, "a condition of {} bytes, not at most {}",
                  request.condition().size(), kMaxConditionBytes);
    }
    LeaseRequest asked;
    asked.interface = request.interface();
    PARETO_ASSIGN(asked.condition, plan::parse_condition(request.condition(), "condition"));
    asked.name = request.name();
    asked.duration = std::chrono::milliseconds(request.lease_ms());
    // A caller who is not known to come another way may come this one; a file is no interface.
    if (!transport::is_unix(peer)) {
      asked.control_interface = interface_towards(host_of_peer(peer)).value_or(asked.interface);
    }
    asked.control_interface_too = request.control_interface_too();
    PARETO_ASSIGN(lease, network.take(asked));
  }
  reply.set_lease(lease.number);
  reply.set_lease_ms(static_cast<std::uint32_t>(
      std::chrono::floor<std::chrono::milliseconds>(lease.duration).count()));
  return {};
}

}  // namespace pareto::daemon
