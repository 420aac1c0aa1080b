// What Describe says of the machine.
#pragma once

#include <cstdint>
#include <string>

#include "core/transport/place.h"

namespace pareto::daemon {

struct Machine {
  std::string cpu;          ///< "Intel(R) Xeon(R) …", "Raspberry Pi 5 Model B Rev 1.0"
  std::uint32_t cores = 1;  ///< that this process may use
  std::string os;           ///< "Debian GNU/Linux 12 (bookworm), Linux 6.1.0"
  transport::Place place;   ///< of this process
};

/// From /proc, /etc/os-release and the scheduler; what cannot be read is "unknown". Threads: any.
Machine describe_machine();

}  // namespace pareto::daemon
