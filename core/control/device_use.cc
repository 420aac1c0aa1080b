#include "core/control/device_use.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/counted.h"

namespace pareto::control {
namespace {

/// Returns "8 s", "3 min", "2 h" or "4 days".
std::string rough_time(Nanoseconds time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time).count();
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) return fmt::format("{} min", seconds / 60);
  if (seconds < 86'400) return fmt::format("{} h", seconds / 3600);
  return counted(static_cast<std::size_t>(seconds / 86'400), "day");
}

}  // namespace

Nanoseconds lease_for(Nanoseconds slowest) {
  return std::clamp(kLeaseOverSlowest * std::min(slowest, kLongestLease), kLease, kLongestLease);
}

std::string to_string(const Holder& holder) {
  const std::string command = holder.command.empty() ? "a program" : holder.command;
  return fmt::format("{} of {} (since {})", command, holder.who, rough_time(holder.since));
}

std::string to_string(const std::vector<Holder>& holders) {
  std::string text = to_string(holders.front());
  if (holders.size() > 1) text += fmt::format(" and {}", counted(holders.size() - 1, "other"));
  return text;
}

}  // namespace pareto::control
