// A device's sensors as files: what a Raspberry Pi with a power meter, or an x86 server, shows
// below /sys.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

namespace pareto::daemon::test {

inline void write_sysfs(const std::filesystem::path& root, const std::string& file,
                        const std::string& text) {
  std::filesystem::create_directories((root / file).parent_path());
  std::ofstream(root / file) << text << "\n";
}

/// Every kind of sensor that is read.
inline void make_fake_board(const std::filesystem::path& root) {
  write_sysfs(root, "class/thermal/thermal_zone0/type", "cpu-thermal");
  write_sysfs(root, "class/thermal/thermal_zone0/temp", "61500");
  write_sysfs(root, "devices/system/cpu/cpufreq/policy0/scaling_cur_freq", "1500000");
  write_sysfs(root, "devices/system/cpu/cpufreq/policy0/cpuinfo_max_freq", "2400000");
  write_sysfs(root, "devices/platform/soc/soc:firmware/get_throttled", "50005");
  write_sysfs(root, "devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "3");
  write_sysfs(root, "devices/system/cpu/cpu0/thermal_throttle/package_throttle_count", "7");
  write_sysfs(root, "class/hwmon/hwmon1/name", "ina219");
  write_sysfs(root, "class/hwmon/hwmon1/power1_input", "5250000");
  write_sysfs(root, "class/powercap/intel-rapl:0/name", "package-0");
  write_sysfs(root, "class/powercap/intel-rapl:0/energy_uj", "12500000");
}

}  // namespace pareto::daemon::test
