#include "coordinator/profile/device_links.h"

#include "partitioner/planning/inputs/cost_model.h"

namespace pareto::profile {

Expected<DeviceLinks> DeviceLinks::find(const std::vector<planning::ProbedTransport>& probed,
                                        const cluster::DaemonClient& device, std::size_t place,
                                        std::size_t coordinator) {
  for (const planning::ProbedTransport& transport : probed) {
    const transport::ProbeResult& there = transport.links[coordinator][place];
    const transport::ProbeResult& back = transport.links[place][coordinator];
    if (there.points.empty() || back.points.empty()) continue;
    DeviceLinks links;
    links.transport_ = transport.name;
    links.there_.measured = planning::link_points(there);
    links.back_.measured = planning::link_points(back);
    return links;
  }
  return fail(ErrorCode::kNotFound, "no transport that was probed leads to {} and back",
              device.config().name);
}

Nanoseconds DeviceLinks::crossing(const StageTraffic& traffic) const {
  return in(traffic).whole() + out(traffic).whole();
}

Nanoseconds DeviceLinks::processor(const StageTraffic& traffic) const {
  return in(traffic).receive + out(traffic).send;
}

planning::LinkTimes DeviceLinks::in(const StageTraffic& traffic) const {
  return planning::link_times(there_, 0, 0, static_cast<std::int64_t>(traffic.input_bytes));
}

planning::LinkTimes DeviceLinks::out(const StageTraffic& traffic) const {
  return planning::link_times(back_, 0, 0, static_cast<std::int64_t>(traffic.output_bytes));
}

}  // namespace pareto::profile
