// Time that the coordinator's own links add to a stage that is measured over them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "coordinator/cluster/daemon_client.h"
#include "coordinator/profile/link_prober.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "partitioner/planning/cost/cost_inputs.h"

namespace pareto::profile {

/// The bytes of a message to a stage and of its result.
struct StageTraffic {
  std::uint64_t input_bytes = 0;
  std::uint64_t output_bytes = 0;
};

/// The coordinator's two links with a device, over one transport.
class DeviceLinks {
 public:
  /// Finds the first links that lead there and back. `place` and `coordinator` are the numbers of
  /// the device and of the coordinator among those that were probed. Fails: kNotFound (none does).
  static Expected<DeviceLinks> find(const std::vector<planning::ProbedTransport>& probed,
                                    const cluster::DaemonClient& device, std::size_t place,
                                    std::size_t coordinator);

  const std::string& transport() const { return transport_; }
  /// Returns the time that both take on the links for a lone request.
  Nanoseconds crossing(const StageTraffic& traffic) const;
  /// Returns the time that both take of the device's processor.
  Nanoseconds processor(const StageTraffic& traffic) const;

 private:
  planning::LinkTimes in(const StageTraffic& traffic) const;
  planning::LinkTimes out(const StageTraffic& traffic) const;

  std::string transport_;
  planning::LinkCosts there_;
  planning::LinkCosts back_;
};

}  // namespace pareto::profile
