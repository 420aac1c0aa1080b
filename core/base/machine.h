// The machine that this process runs on: what a daemon says of itself, and a run of its
// coordinator.
#pragma once

#include <cstdint>
#include <string>

namespace pareto {

struct Machine {
  std::string cpu;          ///< "Intel(R) Xeon(R) …", "Raspberry Pi 5 Model B Rev 1.0"
  std::uint32_t cores = 1;  ///< cores that this process may use
  std::string os;  ///< system with its kernel: "Debian GNU/Linux 12 (bookworm), Linux 6.1.0"
  std::uint64_t memory_bytes = 0;  ///< physical; 0 = unknown
  double cpu_quota{};  ///< processor time that its control group may take, in cores; 0: no limit
  bool imitated{};     ///< its daemon computes as slowly, or as steadily, as another device would
};

/// Reads the machine from /proc, /etc/os-release, the kernel and its scheduler; what cannot be read
/// is "unknown". Threads: any.
Machine describe_machine();

}  // namespace pareto
