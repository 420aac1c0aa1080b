#include "tests/bench/shaped_network.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/control/greeting.h"
#include "daemon/stage/link_probe.h"
#include "netem/run_program.h"
#include "netem/token_bucket.h"

namespace pareto::bench {
namespace {

constexpr std::chrono::seconds kProbePatience{60};
constexpr const char* kHere = "10.213.0.1";
constexpr const char* kThere = "10.213.0.2";

Expected<> bring_up(const std::string& device, const char* address) {
  PARETO_TRY(
      netem::run_program({"ip", "addr", "add", fmt::format("{}/30", address), "dev", device}));
  return netem::run_program({"ip", "link", "set", device, "up"});
}

}  // namespace

Expected<std::unique_ptr<ShapedNetwork>> ShapedNetwork::make() {
  PARETO_ASSIGN(const auto here, netem::NetworkNamespace::create());
  PARETO_ASSIGN(auto there, netem::NetworkNamespace::create());
  PARETO_TRY(here.enter());
  std::unique_ptr<ShapedNetwork> network(new ShapedNetwork(std::move(there)));
  PARETO_TRY(network->there_.run([&] { return network->start_peer(); }));
  PARETO_TRY(network->join());
  return network;
}

Expected<> ShapedNetwork::start_peer() {
  PARETO_ASSIGN(TemporaryFolder folder, TemporaryFolder::create("pareto-bench"));
  folder_ = std::make_unique<TemporaryFolder>(std::move(folder));
  PARETO_ASSIGN(
      cluster::ChildProcess peer,
      cluster::ChildProcess::start(std::filesystem::read_symlink("/proc/self/exe"),
                                   {"wire-peer", "--host", "0.0.0.0"}, folder_->path() / "log"));
  peer_ = std::make_unique<cluster::ChildProcess>(std::move(peer));
  PARETO_ASSIGN(const std::string line, peer_->wait_ready(deadline_after(kProbePatience)));
  const std::string listening = nlohmann::json::parse(line)["tcp"].get<std::string>();
  address_ = kThere + listening.substr(listening.rfind(':'));
  PARETO_ASSIGN(tcp_, transport::make_transport("tcp"));
  return {};
}

Expected<> ShapedNetwork::join() {
  PARETO_TRY(netem::run_program({"ip", "link", "add", "here", "type", "veth", "peer", "name",
                                 "there", "netns", std::to_string(peer_->pid())}));
  PARETO_TRY(bring_up("here", kHere));
  return there_.run([] { return bring_up("there", kThere); });
}

Expected<> ShapedNetwork::shape(int megabits_per_second) {
  plan::LinkDirection direction;
  direction.bits_per_second = static_cast<std::uint64_t>(megabits_per_second) * 1'000'000;
  PARETO_TRY(netem::run_program(netem::token_bucket_command("here", direction)));
  return there_.run(
      [&] { return netem::run_program(netem::token_bucket_command("there", direction)); });
}

Expected<std::unique_ptr<transport::Link>> ShapedNetwork::connect(const wire::Codec* codec) {
  return tcp_->connect(address_, deadline_after(kProbePatience), {.codec = codec});
}

Expected<double> ShapedNetwork::measured_rate() {
  PARETO_ASSIGN(const auto link, connect());
  PARETO_TRY(
      control::introduce(*link, {0, 0, control::Role::kProbe}, deadline_after(kProbePatience)));
  PARETO_ASSIGN(const auto speed, daemon::measure_link(*link, deadline_after(kProbePatience)));
  return speed.bytes_per_second;
}

}  // namespace pareto::bench
