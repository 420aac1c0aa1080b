// What Describe and Observe say of the machine.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/transport/place.h"

namespace pareto::daemon {

struct Machine {
  std::string cpu;          ///< "Intel(R) Xeon(R) …", "Raspberry Pi 5 Model B Rev 1.0"
  std::uint32_t cores = 1;  ///< that this process may use
  std::string os;           ///< "Debian GNU/Linux 12 (bookworm), Linux 6.1.0"
  transport::Place place;   ///< of this process
};

/// How the machine is at one moment; what it does not show is left out.
struct MachineState {
  std::optional<double> temperature_celsius;  ///< of its warmest part
  std::optional<double> frequency_hertz;      ///< of its slowest core
  std::optional<double> frequency_max_hertz;  ///< the highest of that core
  std::vector<std::string> governors;         ///< of its cores' clocks, each once: "powersave"
  std::vector<std::string> throttled;  ///< why its firmware slows it down now: "under_voltage"
  std::uint64_t throttle_events = 0;   ///< how often heat slowed it down since it started
};

/// Threads: any.
using MachineProbe = std::function<MachineState()>;

/// From /proc, /etc/os-release and the scheduler; what cannot be read is "unknown". Threads: any.
Machine describe_machine();

}  // namespace pareto::daemon
