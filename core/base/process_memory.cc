#include "core/base/process_memory.h"

#include <malloc.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <string>

#include "core/base/file.h"

namespace pareto {

ProcessMemory process_memory() {
  constexpr std::uint64_t kMostBytes = 1 << 20;
  const std::string status = read_file("/proc/self/status", kMostBytes).value_or("");
  return {bytes_in_line(status, "VmRSS:"), bytes_in_line(status, "VmHWM:")};
}

bool restart_peak() {
  std::ofstream file("/proc/self/clear_refs");
  file << "5" << std::flush;
  return file.good();
}

void limit_arenas() {
#if defined(__GLIBC__)
  // One more than the least, so that a thread seldom waits for another one's allocation.
  constexpr int kArenas = 2;
  if (std::getenv("MALLOC_ARENA_MAX") == nullptr) ::mallopt(M_ARENA_MAX, kArenas);
#endif
}

void return_freed_memory() {
#if defined(__GLIBC__)
  ::malloc_trim(0);
#endif
}

std::uint64_t bytes_in_line(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return 0;
  text.remove_prefix(at + key.size());
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::uint64_t kibibytes = 0;
  std::from_chars(text.data(), text.data() + text.size(), kibibytes);
  return kibibytes * 1024;
}

}  // namespace pareto
