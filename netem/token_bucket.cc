#include "netem/token_bucket.h"

#include <algorithm>
#include <chrono>

namespace pareto::netem {
namespace {

std::uint64_t bytes_in(const plan::LinkDirection& direction, std::chrono::microseconds time) {
  return direction.bits_per_second / 8 * static_cast<std::uint64_t>(time.count()) / 1'000'000;
}

}  // namespace

std::uint64_t burst_bytes(const plan::LinkDirection& direction) {
  return std::max<std::uint64_t>(bytes_in(direction, std::chrono::microseconds(500)), 4 << 10);
}

std::uint64_t queue_bytes(const plan::LinkDirection& direction) {
  if (direction.queue_bytes > 0) return direction.queue_bytes;
  return std::max<std::uint64_t>(bytes_in(direction, std::chrono::milliseconds(50)), 64 << 10);
}

std::vector<std::string> token_bucket_command(const std::string& device,
                                              const plan::LinkDirection& direction,
                                              const std::vector<std::string>& place,
                                              std::uint64_t largest_packet_bytes) {
  const std::uint64_t burst = std::max(burst_bytes(direction), largest_packet_bytes);
  std::vector<std::string> command{"tc", "qdisc", "replace", "dev", device};
  command.insert(command.end(), place.begin(), place.end());
  const std::vector<std::string> bucket{"tbf",
                                        "rate",
                                        fmt::format("{}bit", direction.bits_per_second),
                                        "burst",
                                        fmt::format("{}b", burst),
                                        "limit",
                                        fmt::format("{}b", queue_bytes(direction))};
  command.insert(command.end(), bucket.begin(), bucket.end());
  return command;
}

}  // namespace pareto::netem
