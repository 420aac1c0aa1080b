#include "coordinator/cluster/control_address.h"

#include <algorithm>
#include <set>

#include "coordinator/discovery/service_lookup.h"
#include "core/base/text.h"
#include "core/transport/address.h"

namespace pareto::cluster {
namespace {

/// Returns the host of HOST:PORT, the last part of a file, or the name of a service.
std::string short_name(const std::string& address) {
  if (transport::is_unix(address)) {
    return std::filesystem::path(address.substr(transport::kUnixScheme.size())).filename().string();
  }
  if (address.starts_with(discovery::kServiceScheme))
    return address.substr(discovery::kServiceScheme.size());
  return transport::parse_host_port(address).map(&transport::HostPort::host).value_or(address);
}

}  // namespace

Expected<> check_control_address(const std::string& address) {
  if (address.starts_with("unix:/")) return {};
  if (address.starts_with(discovery::kServiceScheme))
    return discovery::check_service_address(address);
  const auto parsed = transport::parse_host_port(address);
  if (!parsed) {
    return fail(ErrorCode::kInvalidArgument, "{}; srv:_SERVICE._tcp.DOMAIN and unix:/FILE work too",
                parsed.error().message);
  }
  if (parsed->port != 0) return {};
  return fail(ErrorCode::kInvalidArgument,
              "\"{}\" has port 0, which nobody can be reached at: name the daemon's own", address);
}

namespace {

/// Returns whether it can only be hosts that lack their ports: a list, or an IPv4 address.
bool lacks_ports(const std::string& devices) {
  std::error_code none;
  if (devices.find('/') != std::string::npos || std::filesystem::exists(devices, none))
    return false;
  const bool is_number =
      std::ranges::all_of(devices, [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
  return devices.find(',') != std::string::npos || (is_number && !devices.empty());
}

}  // namespace

bool names_addresses(const std::string& devices) {
  std::error_code none;
  return devices.find(':') != std::string::npos && !std::filesystem::exists(devices, none);
}

Expected<std::vector<DeviceConfig>> read_devices(const std::string& devices) {
  if (!names_addresses(devices) && lacks_ports(devices)) {
    const std::vector<std::string> hosts = split_list(devices);
    return fail(ErrorCode::kInvalidArgument, "\"{}\" names no port: write {}:7070", devices,
                join(hosts, ":7070,"));
  }
  if (!names_addresses(devices)) return read_inventory(devices);
  std::vector<DeviceConfig> configs;
  // A blank at an end is a slip too, and split_list() would drop it.
  for (std::size_t begin = 0; begin <= devices.size();) {
    const std::size_t end = std::min(devices.find(',', begin), devices.size());
    const std::string address = devices.substr(begin, end - begin);
    begin = end + 1;
    PARETO_TRY(check_control_address(address));
    if (std::ranges::find(configs, address, &DeviceConfig::address) != configs.end()) {
      return fail(ErrorCode::kInvalidArgument, "{} is named twice", address);
    }
    configs.push_back({short_name(address), address});
  }
  std::multiset<std::string> names;
  for (const DeviceConfig& device : configs) names.insert(device.name);
  for (DeviceConfig& device : configs) {
    if (names.count(device.name) > 1) device.name = device.address;
  }
  return configs;
}

std::string name_and_address(const DeviceConfig& device) {
  if (device.name == device.address) return device.address;
  return fmt::format("{} ({})", device.name, device.address);
}

}  // namespace pareto::cluster
