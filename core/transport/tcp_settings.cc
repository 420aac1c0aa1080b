#include "core/transport/tcp_settings.h"

#include <string>

#include "core/base/file.h"

namespace pareto::transport {
namespace {

std::string setting(const char* name) {
  constexpr std::uint64_t kLongest = 64;
  return read_file(std::string("/proc/sys/net/ipv4/") + name, kLongest).value_or("");
}

}  // namespace

bool idle_connections_cool() {
  return !setting("tcp_slow_start_after_idle").starts_with("0") && !connections_are_paced();
}

bool connections_are_paced() { return setting("tcp_congestion_control").starts_with("bbr"); }

}  // namespace pareto::transport
