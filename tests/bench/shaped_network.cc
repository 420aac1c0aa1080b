#include "tests/bench/shaped_network.h"

#include <sched.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "daemon/stage/handshake.h"
#include "daemon/stage/link_probe.h"

namespace pareto::bench {
namespace {

constexpr std::chrono::seconds kPatience{60};
constexpr const char* kHere = "10.213.0.1";
constexpr const char* kThere = "10.213.0.2";

/// In the calling thread's namespace.
Expected<> shell(const std::string& command) {
  if (std::system(command.c_str()) == 0) return {};
  return fail(ErrorCode::kPermission, "\"{}\" failed", command);
}

}  // namespace

Expected<std::unique_ptr<ShapedNetwork>> ShapedNetwork::make() {
  if (::unshare(CLONE_NEWNET) != 0) {
    return tl::unexpected(error_from_errno(errno, "making a network namespace"));
  }
  std::unique_ptr<ShapedNetwork> network(new ShapedNetwork);
  PARETO_ASSIGN(TemporaryFolder folder, TemporaryFolder::create("pareto-bench"));
  network->folder_ = std::make_unique<TemporaryFolder>(std::move(folder));
  PARETO_ASSIGN(client::ChildProcess peer,
                client::ChildProcess::start(std::filesystem::read_symlink("/proc/self/exe"),
                                            {"wire-peer", "--own-network"},
                                            network->folder_->path() / "log"));
  network->peer_ = std::make_unique<client::ChildProcess>(std::move(peer));
  PARETO_ASSIGN(const std::string line, network->peer_->wait_ready(deadline_after(kPatience)));
  const std::string listening = nlohmann::json::parse(line)["tcp"].get<std::string>();
  network->address_ = kThere + listening.substr(listening.rfind(':'));
  PARETO_ASSIGN(network->tcp_, transport::make_transport("tcp"));
  PARETO_TRY(network->join());
  return network;
}

Expected<> ShapedNetwork::join() {
  const int peer = peer_->pid();
  PARETO_TRY(shell(fmt::format("ip link add here type veth peer name there netns {}", peer)));
  PARETO_TRY(shell(fmt::format("ip addr add {}/30 dev here && ip link set here up", kHere)));
  return shell(fmt::format(
      "nsenter --net=/proc/{}/ns/net sh -c 'ip addr add {}/30 dev there && ip link set there up'",
      peer, kThere));
}

Expected<> ShapedNetwork::shape(int megabits_per_second) {
  const char* const burst = megabits_per_second < 50    ? "16kb"
                            : megabits_per_second < 500 ? "64kb"
                                                        : "256kb";
  const auto shaper = [&](const char* device) {
    return fmt::format("tc qdisc replace dev {} root tbf rate {}mbit burst {} latency 100ms",
                       device, megabits_per_second, burst);
  };
  PARETO_TRY(shell(shaper("here")));
  return shell(fmt::format("nsenter --net=/proc/{}/ns/net {}", peer_->pid(), shaper("there")));
}

Expected<std::unique_ptr<transport::Link>> ShapedNetwork::connect(const wire::Codec* codec) {
  transport::Limits limits;
  limits.codec = codec;
  return tcp_->connect(address_, deadline_after(kPatience), limits);
}

Expected<double> ShapedNetwork::measured_rate() {
  PARETO_ASSIGN(const auto link, connect());
  PARETO_TRY(daemon::introduce(*link, {0, 0, daemon::Role::kProbe}, deadline_after(kPatience)));
  return daemon::measure_rate(*link, deadline_after(kPatience));
}

}  // namespace pareto::bench
