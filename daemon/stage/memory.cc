#include "daemon/stage/memory.h"

#include <malloc.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/control_group.h"
#include "core/base/file.h"
#include "core/base/process_memory.h"
#include "runtime/shard_runner.h"

namespace pareto::daemon {
namespace {

constexpr std::uint64_t kFileBytes = 1 << 20;

/// Returns the number behind a word at the beginning of a line.
std::uint64_t count_of(const std::string& text, const std::string& word) {
  const std::string lines = "\n" + text;
  const std::size_t at = lines.find("\n" + word);
  if (at == std::string::npos) return 0;
  std::uint64_t number = 0;
  std::from_chars(lines.data() + at + 1 + word.size(), lines.data() + lines.size(), number);
  return number;
}

/// Returns the number that a file holds; none if it holds "max", or if there is no such file.
std::optional<std::uint64_t> bytes_in(const std::filesystem::path& file) {
  const std::string text = read_file(file, kFileBytes).value_or("");
  std::uint64_t number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc()) return {};
  return number;
}

std::uint64_t allocated_bytes() {
// A sanitizer has an allocator of its own.
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
#else
  return 0;
#endif
}

}  // namespace

void limit_to_control_group(MemoryReading& reading, const std::filesystem::path& group,
                            bool first) {
  const auto limit = bytes_in(group / (first ? "memory.limit_in_bytes" : "memory.max"));
  if (!limit || *limit >= reading.total_bytes) return;
  const std::uint64_t used =
      bytes_in(group / (first ? "memory.usage_in_bytes" : "memory.current")).value_or(0);
  // Linux keeps files that were read or written in memory while nobody needs the room.
  const std::string parts = read_file(group / "memory.stat", kFileBytes).value_or("");
  const std::uint64_t files = count_of(parts, first ? "total_active_file " : "active_file ") +
                              count_of(parts, first ? "total_inactive_file " : "inactive_file ");
  const std::uint64_t taken = used - std::min(files, used);
  reading.total_bytes = *limit;
  // 0 would mean "unknown".
  reading.available_bytes = std::max<std::uint64_t>(
      std::min(reading.available_bytes, *limit - std::min(taken, *limit)), 1);
}

MemoryReading read_memory() {
  const ProcessMemory own = process_memory();
  const std::string machine = read_file("/proc/meminfo", kFileBytes).value_or("");
  MemoryReading reading{own.resident_bytes,
                        own.peak_bytes,
                        bytes_in_line(machine, "MemAvailable:"),
                        bytes_in_line(machine, "MemTotal:"),
                        allocated_bytes(),
                        runtime::kernels::packed_weight_bytes()};
  if (const auto tree = find_controller("memory")) {
    limit_to_control_group(reading, own_control_group(*tree, "memory"), tree->version == 1);
  }
  return reading;
}

}  // namespace pareto::daemon
