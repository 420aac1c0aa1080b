#include "daemon/metrics/machine_state.h"

#include <algorithm>
#include <string_view>

#include "core/base/cpu_quota.h"
#include "core/metrics/metric.h"
#include "daemon/metrics/machine_sensors.h"

namespace pareto::daemon {
namespace {

using metrics::Families;
using metrics::Sample;

const std::vector<Sample>& samples_of(const Families& families, std::string_view name) {
  static const std::vector<Sample> kNone;
  const auto found = std::ranges::find(families, name, &metrics::Family::name);
  return found == families.end() ? kNone : found->samples;
}

void add_clock(const Families& families, control::MachineState& state) {
  const auto& clocks = samples_of(families, "pareto_machine_frequency_hertz");
  const auto slowest = std::ranges::min_element(clocks, {}, &Sample::value);
  if (slowest == clocks.end()) return;
  state.frequency_hertz = slowest->value;
  const auto& highest = samples_of(families, "pareto_machine_frequency_max_hertz");
  const auto own = std::ranges::find(highest, slowest->labels, &Sample::labels);
  if (own != highest.end()) state.frequency_max_hertz = own->value;
}

}  // namespace

control::MachineState machine_state(const std::filesystem::path& sysfs) {
  const Families families = machine_sensors(sysfs);
  control::MachineState state;
  const auto& temperatures = samples_of(families, "pareto_machine_temperature_celsius");
  const auto warmest = std::ranges::max_element(temperatures, {}, &Sample::value);
  if (warmest != temperatures.end()) state.temperature_celsius = warmest->value;
  add_clock(families, state);
  state.governors = frequency_governors(sysfs);
  for (const Sample& cause : samples_of(families, "pareto_machine_throttled")) {
    if (cause.value > 0) state.throttled.push_back(cause.labels.front().second);
  }
  for (const Sample& part : samples_of(families, "pareto_machine_throttle_events_total")) {
    state.throttle_events += static_cast<std::uint64_t>(part.value);
  }
  state.load = machine_load();
  const CpuQuota quota = cpu_quota();
  state.quota_periods = quota.periods;
  state.throttled_periods = quota.throttled_periods;
  return state;
}

}  // namespace pareto::daemon
