#include "core/base/machine.h"

#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include <algorithm>
#include <string_view>
#include <thread>

#include "core/base/cores.h"
#include "core/base/cpu_quota.h"
#include "core/base/file.h"

namespace pareto {
namespace {

constexpr std::uint64_t kLargestDescription = 4 << 20;

/// Returns what follows `key` on the first line that begins with it, without separator, blanks and
/// quotes.
std::string value_of(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.starts_with(key)) {
      line.remove_prefix(key.size());
      const std::size_t first = line.find_first_not_of(" \t:=\"");
      const std::size_t last = line.find_last_not_of(" \t\"");
      if (first != std::string_view::npos) return std::string(line.substr(first, last - first + 1));
    }
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return "";
}

std::string cpu_model() {
  const std::string cpuinfo = read_file("/proc/cpuinfo", kLargestDescription).value_or("");
  if (std::string name = value_of(cpuinfo, "model name"); !name.empty()) return name;
  // Arm kernels name the board, not the processor.
  std::string board = read_file("/proc/device-tree/model", kLargestDescription).value_or("");
  std::erase(board, '\0');
  if (!board.empty()) return board;
  std::string model = value_of(cpuinfo, "Model");
  return model.empty() ? "unknown" : model;
}

std::uint32_t core_count() {
  const auto usable = static_cast<std::uint32_t>(usable_cores().size());
  return usable > 0 ? usable : std::max(1U, std::thread::hardware_concurrency());
}

std::string operating_system() {
  const std::string release = read_file("/etc/os-release", kLargestDescription).value_or("");
  std::string name = value_of(release, "PRETTY_NAME");
  utsname kernel{};
  if (::uname(&kernel) == 0) {
    name += fmt::format("{}{} {}", name.empty() ? "" : ", ", kernel.sysname, kernel.release);
  }
  return name.empty() ? "unknown" : name;
}

std::uint64_t physical_memory() {
  struct sysinfo info {};
  return ::sysinfo(&info) == 0 ? std::uint64_t{info.totalram} * info.mem_unit : 0;
}

}  // namespace

Machine describe_machine() {
  return {cpu_model(), core_count(), operating_system(), physical_memory(), cpu_quota().cores};
}

}  // namespace pareto
