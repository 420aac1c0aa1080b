#include "client/watch/examine.h"

#include <thread>
#include <utility>

#include "coordinator/load/foreign_load_meter.h"
#include "core/control/greeting.h"
#include "core/transport/link_probe.h"
#include "core/transport/transport.h"

namespace pareto::watch {
namespace {

constexpr std::chrono::milliseconds kPatience{5000};
constexpr int kClockProbes = 16;
/// Processor time is counted in hundredths of a second.
constexpr std::chrono::milliseconds kWatching{500};

/// Pings of one byte, a few.
transport::ProbeOptions smallest_probe() {
  transport::ProbeOptions options;
  options.sizes = {1};
  options.budget = std::chrono::milliseconds(20);
  return options;
}

Expected<Nanoseconds> dial_from_here(transport::Transport& transport, const std::string& address,
                                     const cluster::DaemonClient& device) {
  PARETO_ASSIGN(const auto link, control::connect_to_stage(
                                     transport, address, {0, 0, control::Role::kProbe},
                                     deadline_after(kPatience), cluster::link_options_to(device)));
  PARETO_ASSIGN(
      const transport::ProbeResult result,
      transport::probe_link(*link, smallest_probe(), std::chrono::steady_clock::now() + kPatience));
  link->close();
  return result.round_trip;
}

/// Returns whether two places are apart, if both are known.
bool are_apart(const transport::Place& one, const transport::Place& other) {
  const bool kernels = !one.boot.empty() && !other.boot.empty() && one.boot != other.boot;
  const bool networks = one.network != 0 && other.network != 0 && one.network != other.network;
  return kernels || networks;
}

/// Adds what `dial` says, which dials from `place`, for every transport that reaches the receiver
/// over a network.
template <typename Dial>
void add_ways(const std::string& from, const transport::Place& place,
              const cluster::DaemonClient& receiver, Dial dial, std::vector<WayFacts>& ways) {
  for (const auto& [name, address] : receiver.info().data) {
    const auto transport = transport::make_transport(name);
    if (!transport || (*transport)->reach() != transport::Reach::kNetwork) continue;
    WayFacts& way = ways.emplace_back();
    way.from = from;
    way.to = receiver.config().name;
    way.transport = name;
    way.address = address;
    way.apart = are_apart(place, receiver.info().place);
    way.control = receiver.config().address;
    const Expected<Nanoseconds> dialled = dial(**transport, address);
    if (dialled) {
      way.round_trip = *dialled;
    } else {
      way.problem = dialled.error().message;
    }
  }
}

std::vector<WayFacts> ways_from(cluster::DaemonClient& sender,
                                const std::vector<cluster::DaemonClient*>& devices) {
  std::vector<WayFacts> ways;
  const auto dial = [&](const transport::Transport& transport,
                        const std::string& address) -> Expected<Nanoseconds> {
    PARETO_ASSIGN(
        const transport::ProbeResult result,
        sender.probe_link(std::string(transport.name()), address, smallest_probe(), kPatience));
    return result.round_trip;
  };
  for (const cluster::DaemonClient* receiver : devices) {
    if (receiver != &sender)
      add_ways(sender.config().name, sender.info().place, *receiver, dial, ways);
  }
  return ways;
}

}  // namespace

std::vector<std::unique_ptr<cluster::DaemonClient>> connect_each(
    const std::vector<cluster::DeviceConfig>& configs, std::vector<DeviceHealth>& facts) {
  std::vector<std::unique_ptr<cluster::DaemonClient>> clients(configs.size());
  facts.assign(configs.size(), {});
  std::vector<std::jthread> connecting;
  for (std::size_t i = 0; i < configs.size(); ++i) {
    connecting.emplace_back([&, i] {
      facts[i].config = configs[i];
      auto client = cluster::connect_daemon(configs[i], kPatience);
      if (client) {
        clients[i] = *std::move(client);
      } else {
        facts[i].problem = client.error();
      }
    });
  }
  connecting.clear();
  std::vector<cluster::DaemonClient*> devices;
  for (const auto& client : clients) devices.push_back(client.get());
  cluster::name_peers(devices);
  return clients;
}

DeviceHealth examine_device(cluster::DaemonClient& device) {
  DeviceHealth facts;
  facts.config = device.config();
  facts.info = device.info();
  if (auto observation = device.observe(kPatience)) {
    facts.observation = *std::move(observation);
  } else {
    facts.unobserved = observation.error();
  }
  facts.clock = device.clock_offset(kClockProbes);
  return facts;
}

std::vector<results::ForeignLoad> watch_others(const std::vector<cluster::DaemonClient*>& devices) {
  load::ForeignLoadMeter meter(devices);
  meter.start();
  std::this_thread::sleep_for(kWatching);
  meter.finish();
  return meter.others();
}

std::vector<WayFacts> examine_ways(const std::vector<cluster::DaemonClient*>& devices) {
  std::vector<std::vector<WayFacts>> found(devices.size() + 1);
  std::vector<std::jthread> dialling;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    dialling.emplace_back([&, i] { found[i + 1] = ways_from(*devices[i], devices); });
  }
  for (const cluster::DaemonClient* receiver : devices) {
    const auto dial = [receiver](transport::Transport& transport, const std::string& address) {
      return dial_from_here(transport, address, *receiver);
    };
    add_ways(results::kThisMachine, transport::this_place(), *receiver, dial, found[0]);
  }
  dialling.clear();
  std::vector<WayFacts> ways;
  for (const auto& of_one : found) ways.insert(ways.end(), of_one.begin(), of_one.end());
  return ways;
}

}  // namespace pareto::watch
