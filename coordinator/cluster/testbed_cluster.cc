#include "coordinator/cluster/testbed_cluster.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "coordinator/cluster/daemon_client.h"
#include "core/base/text.h"

namespace pareto::cluster {
namespace {

namespace fs = std::filesystem;

RunningTestbed describe(const netem::Testbed& bed, const Cluster& cluster) {
  RunningTestbed running{.name = bed.name,
                         .process = ::getpid(),
                         .content = bed.content,
                         .network = bed.common_network(),
                         .emulator = cluster.network()->emulator(),
                         .devices = {},
                         .links = {}};
  const std::vector<int> processes = cluster.local_pids();
  for (std::size_t i = 0; i < bed.devices.size(); ++i) {
    const netem::TestbedDevice& device = bed.devices[i];
    running.devices.push_back({.name = device.name,
                               .preset = device.preset,
                               .control = cluster.device(i).config().address,
                               .place = cluster.place(i),
                               .process = processes[i],
                               .speed = device.speed,
                               .steady = device.steady,
                               .memory_bytes = device.memory_bytes});
  }
  for (std::size_t i = 0; i < bed.links.size(); ++i) {
    const bool star = bed.topology == netem::Topology::kStar;
    running.links.push_back(
        {bed.devices[i].name, star ? "switch" : bed.devices[i + 1].name, bed.links[i].network});
  }
  return running;
}

Expected<Cluster> connect_to(const RunningTestbed& bed) {
  std::vector<DeviceConfig> devices;
  for (const RunningDevice& device : bed.devices) devices.push_back({device.name, device.control});
  PARETO_ASSIGN(auto network, join_network(bed));
  return Cluster::connect(devices, std::move(network));
}

Expected<Cluster> hold(const netem::Testbed& bed, std::vector<NamedCondition> conditions,
                       const fs::path& paretod) {
  PARETO_ASSIGN(auto claim, TestbedRegistry().claim(bed.name));
  if (!claim) {
    return fail(ErrorCode::kUnavailable, "it is being made by another process: try again");
  }
  PARETO_ASSIGN(auto network, EmulatedNetwork::create(bed, std::move(conditions)));
  PARETO_ASSIGN(Cluster cluster,
                Cluster::start_local(bed, paretod, std::move(network), std::move(claim)));
  PARETO_TRY(publish_testbed(bed, cluster));
  return cluster;
}

/// Returns " (did you mean bed?)" of the test beds that are up, or nothing.
std::string similar_testbeds(const std::string& name) {
  const auto up = TestbedRegistry().all();
  std::vector<std::string> names;
  if (up) std::ranges::transform(*up, std::back_inserter(names), &RunningTestbed::name);
  return did_you_mean(name, names);
}

}  // namespace

std::string ChosenTestbed::network() const {
  const std::string common = bed ? bed->common_network() : running->network;
  return common.empty() ? EmulatedNetwork::kOwn : common;
}

bool is_testbed_file(const std::string& what) {
  std::error_code none;
  return what.find('/') != std::string::npos || what.ends_with(".yaml") || what.ends_with(".yml") ||
         fs::is_regular_file(what, none);
}

Expected<> publish_testbed(const netem::Testbed& bed, const Cluster& cluster) {
  return cluster.claim()->publish(describe(bed, cluster));
}

Expected<ChosenTestbed> find_testbed(const std::string& what) {
  const TestbedRegistry registry;
  ChosenTestbed chosen;
  if (!is_testbed_file(what)) {
    PARETO_ASSIGN(chosen.running, registry.find(what));
    if (chosen.running) return chosen;
    return fail(ErrorCode::kNotFound,
                "no test bed \"{}\" is up{}, and there is no such file: put it up first (paretoctl "
                "testbed up {}.yaml), or name its file (--testbed FILE.yaml)",
                what, similar_testbeds(what), what);
  }
  PARETO_ASSIGN(chosen.bed, netem::read_testbed(what));
  PARETO_ASSIGN(chosen.running, registry.find(chosen.bed->name));
  if (chosen.running && chosen.running->content != chosen.bed->content) {
    return fail(ErrorCode::kInvalidArgument,
                "{}: a test bed {} is up that was made of other files; take it down first: "
                "paretoctl testbed down {}",
                what, chosen.bed->name, chosen.bed->name);
  }
  return chosen;
}

Expected<std::unique_ptr<JoinedNetwork>> join_network(const RunningTestbed& bed) {
  std::vector<std::string> places;
  for (const RunningDevice& device : bed.devices) places.push_back(device.place);
  return JoinedNetwork::create(condition_name(ChosenTestbed{{}, bed}.network()), bed.emulator,
                               places);
}

Expected<Cluster> open_testbed(const ChosenTestbed& chosen, std::vector<NamedCondition> conditions,
                               const fs::path& paretod) {
  return with_context(chosen.running ? connect_to(*chosen.running)
                                     : hold(*chosen.bed, std::move(conditions), paretod),
                      "test bed {}", chosen.name());
}

}  // namespace pareto::cluster
