#include "core/base/cpu_quota.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/cores.h"
#include "core/base/file.h"

namespace pareto {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargestQuota = 1 << 16;

/// Reads the number at the beginning of a text; no value for "max", -1, or nothing.
std::optional<double> number_at(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number <= 0) return {};
  return static_cast<double>(number);
}

std::string content_of(const fs::path& file) { return read_file(file, kLargestQuota).value_or(""); }

/// Returns the number behind `key` at the beginning of a line.
std::uint64_t count_of(const std::string& text, const std::string& key) {
  const std::string lines = "\n" + text;
  const std::size_t at = lines.find("\n" + key + " ");
  if (at == std::string::npos) return 0;
  const auto number = number_at(std::string_view(lines).substr(at + key.size() + 2));
  return static_cast<std::uint64_t>(number.value_or(0));
}

/// Returns the quota of one group in cores; 0: none.
double cores_of(const fs::path& group, int version) {
  std::optional<double> quota;
  std::optional<double> period;
  if (version == 1) {
    quota = number_at(content_of(group / "cpu.cfs_quota_us"));
    period = number_at(content_of(group / "cpu.cfs_period_us"));
  } else {
    // "150000 100000", or "max 100000".
    const std::string both = content_of(group / "cpu.max");
    const std::size_t blank = both.find(' ');
    quota = number_at(both);
    if (blank != std::string::npos) period = number_at(std::string_view(both).substr(blank + 1));
  }
  return quota && period ? *quota / *period : 0;
}

}  // namespace

CpuQuota cpu_quota(const ControllerTree& tree, const fs::path& group) {
  CpuQuota least;
  for (fs::path at = group;; at = at.parent_path()) {
    const double cores = cores_of(at, tree.version);
    if (cores > 0 && (least.cores == 0 || cores < least.cores)) {
      const std::string counts = content_of(at / "cpu.stat");
      least = {cores, count_of(counts, "nr_periods"), count_of(counts, "nr_throttled")};
    }
    if (at == tree.root || at == at.parent_path()) return least;
  }
}

CpuQuota cpu_quota() {
  const auto tree = find_controller("cpu");
  if (!tree) return {};
  return cpu_quota(*tree, own_control_group(*tree, "cpu"));
}

int useful_threads(int cores, double quota_cores) {
  int threads = std::max(cores, 1);
  // One thread more than the quota feeds would make all of them wait for the next period.
  if (quota_cores > 0 && quota_cores < threads) {
    threads = std::max(1, static_cast<int>(std::floor(quota_cores)));
  }
  return threads;
}

int useful_threads() {
  return useful_threads(static_cast<int>(usable_cores().size()), cpu_quota().cores);
}

}  // namespace pareto
