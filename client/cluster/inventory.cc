#include <set>

#include "client/cluster/cluster.h"
#include "client/discovery/service_lookup.h"
#include "core/base/config_reader.h"

namespace pareto::client {
namespace {

/// HOST:PORT, a file, or a service that DNS knows.
Expected<> check_address(const std::string& address) {
  if (address.starts_with("unix:/")) return {};
  if (address.starts_with(kServiceScheme)) return check_service_address(address);
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == address.size() ||
      address.find_first_not_of("0123456789", colon + 1) != std::string::npos) {
    return fail(ErrorCode::kInvalidArgument,
                "\"{}\" is neither HOST:PORT nor srv:_SERVICE._tcp.DOMAIN nor unix:/FILE", address);
  }
  return {};
}

}  // namespace

Expected<std::vector<DeviceConfig>> read_inventory(const std::filesystem::path& path) {
  PARETO_ASSIGN(ConfigReader file, ConfigReader::from_file(path));
  ConfigSection root = file.root();
  std::vector<DeviceConfig> devices;
  std::set<std::string> names;
  for (ConfigSection& entry : root.sections("devices")) {
    DeviceConfig device;
    entry.required("name", device.name);
    entry.required("address", device.address);
    entry.optional("netem_interface", device.netem_interface);
    entry.optional("netem_control_too", device.netem_control_too);
    entry.optional_power("power", device.milliwatts);
    if (entry.has("name") && device.name.empty()) {
      entry.problem("name", "a device needs a name");
    } else if (entry.has("name") && !names.insert(device.name).second) {
      entry.problem("name", fmt::format("another device is called \"{}\" as well", device.name));
    }
    if (const auto good = check_address(device.address); entry.has("address") && !good) {
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

}  // namespace pareto::client
