#include "client/flags/device_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "coordinator/cluster/control_address.h"
#include "coordinator/cluster/daemon_client.h"
#include "coordinator/cluster/remote_network.h"
#include "coordinator/cluster/testbed_cluster.h"
#include "core/base/usage.h"

namespace pareto::client {
namespace {

/// Removes the devices that nobody needs. The check of the plan reports a name that is not there.
void keep_needed(const NeededDevices& needed, std::vector<cluster::DeviceConfig>& devices) {
  const auto is_there = [&](const std::string& name) {
    return std::ranges::find(devices, name, &cluster::DeviceConfig::name) != devices.end();
  };
  if (needed.first > 0 && needed.first < devices.size()) devices.resize(needed.first);
  if (needed.names.empty() || !std::ranges::all_of(needed.names, is_there)) return;
  std::erase_if(devices, [&](const cluster::DeviceConfig& device) {
    return std::ranges::find(needed.names, device.name) == needed.names.end();
  });
}

}  // namespace

void DeviceFlags::add_to(CLI::App& app, DeviceNeed need, const std::string& without_any) {
  const Heading heading(app, "Devices");
  auto* devices =
      set_value(app.add_option("--devices", inventory,
                               std::string(kDevicesHelp) + "; without any, " + without_any),
                "FILE|LIST", {"@addresses"})
          ->check(check_names_devices);
  set_value(app.add_option("--testbed", testbed,
                           "devices and links imitated on this machine: a file "
                           "(configs/testbed/two-pi4.yaml) or the name of a test bed that is up; "
                           "needs root"),
            "FILE|NAME", {"@testbeds"})
      ->excludes(devices);
  credentials.add_to(app);
  use.add_to(app, need);
}

void DeviceFlags::settle(const Context& context) {
  if (inventory.empty() && testbed.empty()) inventory = context.devices;
}

Expected<cluster::Cluster> DeviceFlags::connect(const Context& context, int count,
                                                std::vector<cluster::NamedCondition> conditions,
                                                const NeededDevices& needed) const {
  PARETO_ASSIGN(cluster::Cluster cluster,
                connect_only(context, count, std::move(conditions), needed));
  UseFlags taking = use;
  if (are_shared()) PARETO_TRY(taking.take(context, cluster));
  return cluster;
}

Expected<cluster::Cluster> DeviceFlags::connect_only(
    const Context& context, int count, std::vector<cluster::NamedCondition> conditions,
    const NeededDevices& needed) const {
  PARETO_TRY(use.read_wait());
  if (!testbed.empty()) {
    PARETO_ASSIGN(const cluster::ChosenTestbed chosen, cluster::find_testbed(testbed));
    return open_testbed(chosen, std::move(conditions), context.paretod);
  }
  if (inventory.empty()) {
    if (static_cast<std::size_t>(count) > netem::Testbed::kMaxDevices) {
      return fail(ErrorCode::kInvalidArgument,
                  "{} devices on this machine are more than {}: name others (--devices)", count,
                  netem::Testbed::kMaxDevices);
    }
    if (conditions.empty()) return cluster::Cluster::start_local(count, context.paretod);
    const netem::Testbed bed = netem::plain_testbed(static_cast<std::size_t>(count));
    PARETO_ASSIGN(auto network, cluster::EmulatedNetwork::create(bed, std::move(conditions)));
    return cluster::Cluster::start_local(bed, context.paretod, std::move(network), {});
  }
  PARETO_ASSIGN(auto devices, with_context(cluster::read_devices(inventory), "--devices"));
  keep_needed(needed, devices);
  PARETO_TRY(credentials.apply(context, devices));
  if (!conditions.empty()) PARETO_TRY(cluster::check_changeable(devices));
  PARETO_ASSIGN(cluster::Cluster cluster, cluster::Cluster::connect(devices));
  if (!conditions.empty()) {
    std::vector<cluster::DaemonClient*> clients;
    for (std::size_t i = 0; i < cluster.size(); ++i) clients.push_back(&cluster.device(i));
    PARETO_ASSIGN(auto network,
                  cluster::RemoteNetwork::create(std::move(conditions), std::move(clients)));
    cluster.use_network(std::move(network));
  }
  return cluster;
}

Expected<std::string> DeviceFlags::testbed_content() const {
  if (testbed.empty()) return std::string();
  PARETO_ASSIGN(const cluster::ChosenTestbed chosen, cluster::find_testbed(testbed));
  return chosen.content();
}

std::string check_names_devices(const std::string& text) {
  return text.empty() ? "it names no device: name some, or leave the flag out" : "";
}

}  // namespace pareto::client
