#include "daemon/metrics/machine_sensors.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/file.h"

namespace pareto::daemon {
namespace {

namespace fs = std::filesystem;
using metrics::Families;
using metrics::Family;
using metrics::Kind;
using metrics::Labels;

// What the kernel states for a file of one line is a page.
constexpr std::uint64_t kSensorFileBytes = 1 << 17;
constexpr std::size_t kMostSamples = 64;

/// Returns what a file of one line holds; empty if there is none.
std::string line_in(const fs::path& file) {
  const std::string text = read_file(file, kSensorFileBytes).value_or("");
  return text.substr(0, text.find('\n'));
}

std::optional<double> number_in(const fs::path& file) {
  const std::string line = line_in(file);
  double number = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (error != std::errc() || end != line.data() + line.size()) return {};
  return number;
}

/// Parses "50005", "0x50005".
std::optional<unsigned> bits_in(const fs::path& file) {
  std::string line = line_in(file);
  if (line.starts_with("0x")) line.erase(0, 2);
  unsigned bits = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), bits, 16);
  if (error != std::errc() || end != line.data() + line.size()) return {};
  return bits;
}

/// Returns those of a folder whose names begin and end so; in the order of their names, the shorter
/// first: cpu2 before cpu10.
std::vector<fs::path> entries(const fs::path& folder, std::string_view start,
                              std::string_view end = "") {
  std::vector<fs::path> found;
  std::error_code error;
  for (auto entry = fs::directory_iterator(folder, error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with(start) && name.ends_with(end)) found.push_back(entry->path());
  }
  std::ranges::sort(found, {}, [](const fs::path& path) {
    const std::string name = path.filename().string();
    return std::pair(name.size(), name);
  });
  return found;
}

void add(Family& family, Labels labels, const std::optional<double>& value) {
  if (!value || family.samples.size() >= kMostSamples) return;
  family.samples.push_back({std::move(labels), *value, {}});
}

/// hwmon's files of one quantity: power1_input, power2_input, ….
void add_hardware_monitors(Family& family, const fs::path& sysfs, std::string_view start,
                           std::string_view end, double unit) {
  for (const fs::path& monitor : entries(sysfs / "class/hwmon", "hwmon")) {
    const std::string name = line_in(monitor / "name");
    for (const fs::path& file : entries(monitor, start, end)) {
      const std::string quantity = file.filename().string();
      const auto value = number_in(file);
      if (!value) continue;
      add(family,
          {{"sensor", monitor.filename().string() + "/" + quantity.substr(0, quantity.find('_'))},
           {"name", name}},
          *value * unit);
    }
  }
}

Family temperatures(const fs::path& sysfs) {
  constexpr double kMillidegree = 1e-3;
  Family family{"pareto_machine_temperature_celsius",
                "Temperature of a part of this machine",
                Kind::kGauge,
                {}};
  for (const fs::path& zone : entries(sysfs / "class/thermal", "thermal_zone")) {
    const auto value = number_in(zone / "temp");
    if (!value) continue;
    add(family, {{"sensor", zone.filename().string()}, {"name", line_in(zone / "type")}},
        *value * kMillidegree);
  }
  // Where there are zones, hwmon mostly shows the same once more.
  if (family.samples.empty()) {
    add_hardware_monitors(family, sysfs, "temp", "_input", kMillidegree);
  }
  return family;
}

Family frequencies(const fs::path& sysfs, const char* name, const char* help, const char* file) {
  constexpr double kKilohertz = 1e3;
  Family family{name, help, Kind::kGauge, {}};
  for (const fs::path& policy : entries(sysfs / "devices/system/cpu/cpufreq", "policy")) {
    const auto value = number_in(policy / file);
    if (!value) continue;
    // "policy0" is of core 0 and all that share its clock.
    add(family, {{"cpu", policy.filename().string().substr(6)}}, *value * kKilohertz);
  }
  return family;
}

/// Below "soc", with the address of it on a Raspberry Pi 5: soc@107c000000/soc@107c000000:firmware.
std::optional<unsigned> throttled_bits(const fs::path& sysfs) {
  for (const fs::path& chip : entries(sysfs / "devices/platform", "soc")) {
    for (const fs::path& firmware : entries(chip, "soc", ":firmware")) {
      if (const auto bits = bits_in(firmware / "get_throttled")) return bits;
    }
  }
  return {};
}

/// Returns what a Raspberry Pi's firmware holds back now, bit by bit.
Family throttled(const fs::path& sysfs) {
  constexpr std::array<const char*, 4> kCauses{"under_voltage", "frequency_cap", "throttling",
                                               "soft_temperature_limit"};
  Family family{"pareto_machine_throttled",
                "1 while the firmware slows this machine down for that cause",
                Kind::kGauge,
                {}};
  const auto bits = throttled_bits(sysfs);
  if (!bits) return family;
  for (std::size_t bit = 0; bit < kCauses.size(); ++bit) {
    add(family, {{"cause", kCauses[bit]}}, (*bits >> bit) & 1U);
  }
  return family;
}

/// Returns what x86 processors count: each core its own, all cores of a package the package's.
Family throttle_events(const fs::path& sysfs) {
  Family family{"pareto_machine_throttle_events_total",
                "How often cores, or the packages that they are in, were slowed down by heat",
                Kind::kCounter,
                {}};
  std::optional<double> cores;
  std::map<std::string, double> packages;  // by their number
  for (const fs::path& cpu : entries(sysfs / "devices/system/cpu", "cpu")) {
    const fs::path counts = cpu / "thermal_throttle";
    if (const auto own = number_in(counts / "core_throttle_count")) {
      cores = cores.value_or(0) + *own;
    }
    if (const auto shared = number_in(counts / "package_throttle_count")) {
      double& package = packages[line_in(cpu / "topology/physical_package_id")];
      package = std::max(package, *shared);
    }
  }
  add(family, {{"part", "core"}}, cores);
  if (!packages.empty()) {
    double all = 0;
    for (const auto& [number, count] : packages) all += count;
    add(family, {{"part", "package"}}, all);
  }
  return family;
}

Family powers(const fs::path& sysfs) {
  constexpr double kMicrowatt = 1e-6;
  Family family{
      "pareto_machine_power_watts", "Power that a part of this machine takes", Kind::kGauge, {}};
  add_hardware_monitors(family, sysfs, "power", "_input", kMicrowatt);
  if (family.samples.empty()) {
    add_hardware_monitors(family, sysfs, "power", "_average", kMicrowatt);
  }
  return family;
}

/// Whole zones only: "intel-rapl:0" is a processor, "intel-rapl:0:1" a part of it.
Family energies(const fs::path& sysfs) {
  constexpr double kMicrojoule = 1e-6;
  Family family{"pareto_machine_energy_joules_total",
                "Energy that a part of this machine took, from where its counter began",
                Kind::kCounter,
                {}};
  for (const fs::path& zone : entries(sysfs / "class/powercap", "")) {
    const std::string directory = zone.filename().string();
    const auto value = number_in(zone / "energy_uj");
    if (std::ranges::count(directory, ':') != 1 || !value) continue;
    add(family, {{"zone", directory}, {"name", line_in(zone / "name")}}, *value * kMicrojoule);
  }
  return family;
}

}  // namespace

std::vector<std::string> frequency_governors(const fs::path& sysfs) {
  std::vector<std::string> governors;
  for (const fs::path& policy : entries(sysfs / "devices/system/cpu/cpufreq", "policy")) {
    std::string governor = line_in(policy / "scaling_governor");
    if (governor.empty() || std::ranges::find(governors, governor) != governors.end()) continue;
    governors.push_back(std::move(governor));
  }
  return governors;
}

Families machine_sensors(const fs::path& sysfs) {
  Families families;
  const auto keep = [&](Family family) {
    if (!family.samples.empty()) families.push_back(std::move(family));
  };
  keep(temperatures(sysfs));
  keep(frequencies(sysfs, "pareto_machine_frequency_hertz", "Clock of cores now",
                   "scaling_cur_freq"));
  keep(frequencies(sysfs, "pareto_machine_frequency_max_hertz", "Highest clock of cores",
                   "cpuinfo_max_freq"));
  keep(throttled(sysfs));
  keep(throttle_events(sysfs));
  keep(powers(sysfs));
  keep(energies(sysfs));
  return families;
}

}  // namespace pareto::daemon
