#include "client/flags/address_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "client/flags/device_flags.h"
#include "coordinator/cluster/control_address.h"
#include "coordinator/cluster/testbed_cluster.h"
#include "core/base/usage.h"

namespace pareto::client {

void AddressFlags::add_to(CLI::App& app, const std::string& otherwise) {
  const Heading heading(app, "Devices");
  set_value(app.add_option("--devices", inventory, kDevicesHelp), "FILE|LIST", {"@addresses"})
      ->check(check_names_devices);
  set_value(app.add_option("addresses", addresses,
                           "control addresses of daemons: HOST:PORT, srv:… or unix:/FILE; without "
                           "any devices: " +
                               otherwise),
            "ADDRESS", {"@addresses"})
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  credentials.add_to(app);
}

void AddressFlags::add_testbed_to(CLI::App& app) {
  const Heading heading(app, "Devices");
  set_value(app.add_option("--testbed", testbed, "test bed that is up (paretoctl testbed up)"),
            "FILE|NAME", {"@testbeds"});
}

void AddressFlags::settle(const Context& context) {
  if (!given()) inventory = context.devices;
}

Expected<std::vector<cluster::DeviceConfig>> AddressFlags::read(const Context& context) const {
  std::vector<cluster::DeviceConfig> devices;
  if (!inventory.empty()) {
    PARETO_ASSIGN(devices, with_context(cluster::read_devices(inventory), "--devices"));
  }
  if (!testbed.empty()) {
    PARETO_ASSIGN(const cluster::ChosenTestbed chosen, cluster::find_testbed(testbed));
    if (!chosen.running) {
      return fail(ErrorCode::kInvalidArgument,
                  "--testbed {}: it is not up (paretoctl testbed up {} first)", testbed, testbed);
    }
    for (const cluster::RunningDevice& device : chosen.running->devices) {
      devices.push_back({device.name, device.control});
    }
  }
  for (const std::string& address : addresses) {
    PARETO_TRY(with_context(cluster::check_control_address(address),
                            "an inventory is named by --devices"));
    if (std::ranges::find(devices, address, &cluster::DeviceConfig::address) != devices.end()) {
      return fail(ErrorCode::kInvalidArgument, "{} is named twice", address);
    }
    devices.push_back({address, address});
  }
  PARETO_TRY(credentials.apply(context, devices));
  return devices;
}

}  // namespace pareto::client
