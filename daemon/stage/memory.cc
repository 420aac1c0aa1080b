#include "daemon/stage/memory.h"

#include <charconv>
#include <string>
#include <string_view>

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

}  // namespace

MemoryReading read_memory() {
  const std::string own = read_file("/proc/self/status", kLimit).value_or("");
  const std::string machine = read_file("/proc/meminfo", kLimit).value_or("");
  return {bytes_of(own, "VmRSS:"), bytes_of(own, "VmHWM:"), bytes_of(machine, "MemAvailable:"),
          bytes_of(machine, "MemTotal:")};
}

}  // namespace pareto::daemon
