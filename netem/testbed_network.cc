#include "netem/testbed_network.h"

#include <fstream>

#include "netem/run_program.h"

namespace pareto::netem {
namespace {

std::string address(std::size_t link, int end) { return fmt::format("10.213.{}.{}", link, end); }

Expected<> hand_on_packets() {
  std::ofstream file("/proc/sys/net/ipv4/ip_forward");
  if (file << "1" << std::flush) return {};
  return fail(ErrorCode::kPermission,
              "/proc/sys/net/ipv4/ip_forward cannot be written: a device of a test bed has to hand "
              "on what is for others (in a container: --privileged)");
}

Expected<> add_route(const std::string& to, const std::string& by, const std::string& from) {
  std::vector<std::string> command{"ip", "route", "add", to, "via", by};
  if (!from.empty()) command.insert(command.end(), {"src", from});
  return run_program(command);
}

}  // namespace

std::string TestbedNetwork::host(std::size_t device) {
  return fmt::format("10.214.0.{}", device + 1);
}

LinkEnd TestbedNetwork::first(std::size_t link) const { return {places_[link], address(link, 1)}; }

LinkEnd TestbedNetwork::second(std::size_t link) const {
  const std::size_t place = topology_ == Topology::kStar ? devices_ : link + 1;
  return {places_[place], address(link, 2)};
}

Expected<TestbedNetwork> TestbedNetwork::create(const Testbed& bed) {
  TestbedNetwork network(bed.topology, bed.devices.size());
  const std::size_t places = network.devices_ + (bed.topology == Topology::kStar ? 1 : 0);
  for (std::size_t i = 0; i < places; ++i) {
    PARETO_ASSIGN(NetworkNamespace place, NetworkNamespace::create());
    network.places_.push_back(std::move(place));
  }
  PARETO_TRY(network.join(bed));
  PARETO_TRY(network.set_up_routes());
  return network;
}

Expected<> TestbedNetwork::join(const Testbed& bed) {
  for (std::size_t i = 0; i < bed.links.size(); ++i) {
    PARETO_ASSIGN(auto link, LinkEmulator::create(first(i), second(i), bed.links[i].condition,
                                                  bed.emulator, /*seed=*/i + 1));
    links_.push_back(std::move(link));
  }
  return {};
}

Expected<> TestbedNetwork::set_up_routes() const {
  for (std::size_t here = 0; here < places_.size(); ++here) {
    const bool is_switch = here == devices_;
    const auto set_up = [&]() -> Expected<> {
      if (places_.size() > 2) PARETO_TRY(hand_on_packets());
      const std::string own = is_switch ? "" : host(here);
      if (!is_switch) PARETO_TRY(run_program({"ip", "address", "add", own + "/32", "dev", "lo"}));
      for (std::size_t there = 0; there < devices_; ++there) {
        if (there == here) continue;
        std::string by;
        if (is_switch) {
          by = address(there, 1);
        } else if (topology_ == Topology::kStar || there > here) {
          by = address(here, 2);
        } else {
          by = address(here - 1, 1);
        }
        PARETO_TRY(add_route(host(there), by, own));
      }
      return {};
    };
    PARETO_TRY(places_[here].run(set_up));
  }
  return {};
}

}  // namespace pareto::netem
