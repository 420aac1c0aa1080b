#include "daemon/stage/memory.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/control_group.h"
#include "core/base/file.h"

namespace pareto::daemon {
namespace {

constexpr std::uint64_t kLimit = 1 << 20;

/// The value of "VmRSS:     1234 kB" in a file of such lines.
std::uint64_t bytes_of(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return 0;
  text.remove_prefix(at + key.size());
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::uint64_t kibibytes = 0;
  std::from_chars(text.data(), text.data() + text.size(), kibibytes);
  return kibibytes * 1024;
}

/// The number a file holds; none where it holds "max", or there is no such file.
std::optional<std::uint64_t> number_in(const std::filesystem::path& file) {
  const std::string text = read_file(file, kLimit).value_or("");
  std::uint64_t number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc()) return {};
  return number;
}

/// A container, or an imitated device, has less than its machine.
void limit_to_control_group(MemoryReading& reading) {
  const auto tree = find_controller("memory");
  if (!tree) return;
  const bool first = tree->version == 1;
  const auto group = own_control_group(*tree, "memory");
  const auto limit = number_in(group / (first ? "memory.limit_in_bytes" : "memory.max"));
  if (!limit || *limit >= reading.total_bytes) return;
  const auto used = number_in(group / (first ? "memory.usage_in_bytes" : "memory.current"));
  const std::uint64_t left = *limit - std::min(used.value_or(0), *limit);
  reading.total_bytes = *limit;
  reading.available_bytes = std::min(reading.available_bytes, left);
}

}  // namespace

MemoryReading read_memory() {
  const std::string own = read_file("/proc/self/status", kLimit).value_or("");
  const std::string machine = read_file("/proc/meminfo", kLimit).value_or("");
  MemoryReading reading{bytes_of(own, "VmRSS:"), bytes_of(own, "VmHWM:"),
                        bytes_of(machine, "MemAvailable:"), bytes_of(machine, "MemTotal:")};
  limit_to_control_group(reading);
  return reading;
}

}  // namespace pareto::daemon
