#include <cmath>
#include <cstdint>
#include <set>
#include <string>

#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/control_address.h"
#include "core/base/config_reader.h"
#include "core/tls/identity.h"
#include "partitioner/planning/objective/objective.h"

namespace pareto::cluster {
namespace {

constexpr double kMostOfFigure = 10'000;

/// Reads those numbers of a device that objectives need.
void read_figures(ConfigSection& entry, planning::DeviceFigures& figures) {
  for (const planning::Objective& objective : planning::builtin_objectives()) {
    if (!objective.needs) continue;
    const std::string key(objective.needs->key);
    if (!entry.has(key)) continue;
    std::int64_t whole = 0;
    if (objective.needs->unit == "W") {
      entry.optional_power(key, whole);
    } else {
      double number = 0;
      entry.optional(key, number);
      if (!(number >= 0 && number <= kMostOfFigure)) {
        entry.problem(key, fmt::format("{}: from 0 to {:.0f}", number, kMostOfFigure));
        continue;
      }
      whole = std::llround(number * objective.needs->whole);
    }
    figures[key] = whole;
  }
}

}  // namespace

Expected<std::vector<DeviceConfig>> read_inventory(const std::filesystem::path& path) {
  auto read = ConfigReader::from_file(path);
  if (!read && read.error().code == ErrorCode::kNotFound) {
    return fail(
        ErrorCode::kNotFound,
        "{} (an inventory names your devices: paretoctl discover --write {}, or by hand as in "
        "configs/inventory.yaml; addresses work too, with their ports: --devices "
        "HOST:7070,HOST:7070)",
        read.error().message, path.string());
  }
  PARETO_ASSIGN(ConfigReader file, std::move(read));
  ConfigSection root = file.root();
  std::vector<DeviceConfig> devices;
  std::set<std::string> names;
  for (ConfigSection& entry : root.sections("devices")) {
    DeviceConfig device;
    entry.required("name", device.name);
    entry.required("address", device.address);
    entry.optional("netem_interface", device.netem_interface);
    entry.optional("netem_control_too", device.netem_control_too);
    read_figures(entry, device.figures);
    entry.optional("medium", device.medium);
    entry.optional("insecure", device.insecure);
    device.identity = device.name;
    entry.optional("identity", device.identity);
    if (const auto good = tls::valid_name(device.identity); entry.has("identity") && !good) {
      entry.problem("identity", good.error().message);
    } else if (!good) {
      // No certificate can hold such a name, so its own may hold any.
      device.identity.clear();
    }
    if (entry.has("name") && device.name.empty()) {
      entry.problem("name", "a device needs a name");
    } else if (entry.has("name") && !names.insert(device.name).second) {
      entry.problem("name", fmt::format("another device is called \"{}\" as well", device.name));
    }
    if (const auto good = check_control_address(device.address); entry.has("address") && !good) {
      entry.problem("address", good.error().message);
    }
    devices.push_back(std::move(device));
  }
  PARETO_TRY(file.finish());
  if (devices.empty()) {
    return fail(ErrorCode::kInvalidArgument, "{}: \"devices\" lists no device", path.string());
  }
  return devices;
}

}  // namespace pareto::cluster
