#include "coordinator/profile/device_constraints.h"

#include <algorithm>
#include <vector>

#include "coordinator/cluster/daemon_client.h"
#include "core/base/text.h"

namespace pareto::profile {
namespace {

Expected<std::size_t> find(const cluster::Cluster& cluster, const std::string& name) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    names.push_back(cluster.device(i).config().name);
    if (names.back() == name) return i;
  }
  return fail(ErrorCode::kNotFound, "no device \"{}\"{}", name, did_you_mean(name, names));
}

void stretch(double factor, planning::StageCosts& costs) {
  const auto longer = [&](Nanoseconds& time) {
    time = from_nanoseconds(to_nanoseconds(time) * factor);
  };
  std::ranges::for_each(costs.compute, longer);
  std::ranges::for_each(costs.enter, longer);
  longer(costs.overhead);
  if (costs.whole) longer(*costs.whole);
}

}  // namespace

DeviceConstraints owners_limits(const cluster::Cluster& cluster) {
  DeviceConstraints constraints;
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    const cluster::DeviceInfo& info = cluster.device(i).info();
    const int cores = info.limit_cores > 0 ? std::min(info.limit_cores, info.cores) : info.cores;
    if (info.limit_busy < 1) constraints.core_time[i] = info.limit_busy * cores;
  }
  return constraints;
}

Expected<DeviceConstraints> read_constraints(const cluster::Cluster& cluster,
                                             const std::string& memory, const std::string& first,
                                             const std::string& last) {
  DeviceConstraints constraints = owners_limits(cluster);
  for (const std::string& limit : split_list(memory)) {
    const auto equals = limit.find('=');
    if (equals == std::string::npos) {
      return fail(ErrorCode::kInvalidArgument, "--max-memory {}: DEVICE=SIZE, as pi-1=256MiB",
                  limit);
    }
    PARETO_ASSIGN(const std::size_t device,
                  with_context(find(cluster, limit.substr(0, equals)), "--max-memory"));
    PARETO_ASSIGN(const std::uint64_t bytes,
                  with_context(parse_bytes(limit.substr(equals + 1)), "--max-memory"));
    constraints.memory[device] =
        static_cast<std::int64_t>(std::min<std::uint64_t>(bytes, INT64_MAX));
  }
  if (!first.empty()) {
    PARETO_ASSIGN(constraints.first, with_context(find(cluster, first), "--first"));
  }
  if (!last.empty()) {
    PARETO_ASSIGN(constraints.last, with_context(find(cluster, last), "--last"));
  }
  return constraints;
}

void constrain(const DeviceConstraints& constraints,
               const std::vector<planning::DeviceFacts>& devices, planning::CostInputs& inputs) {
  for (std::size_t i = 0; i < inputs.devices.size(); ++i) {
    planning::DeviceCosts& device = inputs.devices[i];
    const auto limit = constraints.memory.find(i);
    if (limit != constraints.memory.end()) {
      device.memory_limit_bytes = std::min(device.memory_limit_bytes, limit->second);
    }
    if (const auto given = constraints.core_time.find(i); given != constraints.core_time.end()) {
      const double factor = std::max(devices[i].profile.threads / given->second, 1.0);
      stretch(factor, device);
      if (device.busy) stretch(factor, *device.busy);
    }
    device.may_be_first = !constraints.first || *constraints.first == i;
    device.may_be_last = !constraints.last || *constraints.last == i;
  }
}

}  // namespace pareto::profile
