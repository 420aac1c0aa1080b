#include "coordinator/cluster/transport_choice.h"

#include <algorithm>

#include "coordinator/cluster/daemon_client.h"
#include "core/base/text.h"
#include "core/transport/transport.h"

namespace pareto::cluster {
namespace {

Expected<std::string> nearest(const transport::Place& from, const transport::Place& to,
                              const DeviceInfo& listener) {
  std::optional<std::string> across;
  for (const auto& transport : transport::builtin_transports()) {
    const std::string name(transport->name());
    switch (transport->reach()) {
      case transport::Reach::kMachine:
        if (transport::share_memory(from, to) && listener.data.contains(name)) return name;
        break;
      case transport::Reach::kNetwork:
        if (!across) across = name;
        break;
      case transport::Reach::kProcess:
        break;
    }
  }
  if (across) return *across;
  return fail(ErrorCode::kNotFound, "no transport of this build crosses a network");
}

}  // namespace

Expected<std::vector<std::string>> parse_transport_mix(const std::string& text) {
  std::vector<std::string> known;
  for (const auto& transport : transport::builtin_transports()) {
    if (transport->reach() != transport::Reach::kProcess) known.emplace_back(transport->name());
  }
  known.emplace_back(kAutoTransport);
  std::vector<std::string> mix = split_list(text, '+');
  for (const std::string& name : mix) {
    if (std::ranges::find(known, name) == known.end()) {
      return fail(ErrorCode::kNotFound, "no transport \"{}\"; there are {}", name, join(known));
    }
  }
  if (static_cast<std::ptrdiff_t>(mix.size()) != std::ranges::count(text, '+') + 1) {
    return fail(ErrorCode::kInvalidArgument,
                "\"{}\" leaves a link without a transport; there are {}", text, join(known));
  }
  return mix;
}

std::optional<std::vector<std::string>> fit_transports(const std::vector<std::string>& mix,
                                                       std::size_t links) {
  if (mix.size() == links) return mix;
  if (mix.size() == 1) return std::vector<std::string>(links, mix.front());
  if (links != 2 && mix.size() != 3) return std::nullopt;
  std::vector<std::string> fitted(links, mix[1]);
  fitted.front() = mix.front();
  fitted.back() = mix.back();
  return fitted;
}

Expected<std::vector<std::string>> nearest_transports(const std::vector<std::string>& devices,
                                                      const Cluster& cluster,
                                                      const transport::Place& here) {
  std::vector<std::string> names;
  const DeviceInfo* last = nullptr;
  for (const std::string& device : devices) {
    PARETO_ASSIGN(const DaemonClient* client, cluster.find(device));
    const DeviceInfo& info = client->info();
    PARETO_ASSIGN(std::string name,
                  nearest(last == nullptr ? here : last->place, info.place, info));
    names.push_back(std::move(name));
    last = &info;
  }
  if (last == nullptr) return names;
  // The sink connects to the last stage.
  PARETO_ASSIGN(std::string name, nearest(here, last->place, *last));
  names.push_back(std::move(name));
  return names;
}

Expected<plan::Plan> with_transports_named(plan::Plan plan, const Cluster& cluster) {
  std::vector<std::string> names;
  for (std::size_t link = 0; link < plan.links(); ++link) names.push_back(plan.transport_of(link));
  if (std::ranges::find(names, kAutoTransport) == names.end()) return plan;
  // Each replica is a chain of its own.
  std::vector<std::vector<std::string>> chains{plan.device_names()};
  if (plan.replicated) {
    chains.clear();
    for (const plan::StagePlan& stage : plan.stages) chains.push_back({stage.device});
  }
  std::vector<std::string> nearest;
  for (const std::vector<std::string>& chain : chains) {
    PARETO_ASSIGN(const std::vector<std::string> of_chain, nearest_transports(chain, cluster));
    nearest.insert(nearest.end(), of_chain.begin(), of_chain.end());
  }
  for (std::size_t link = 0; link < names.size(); ++link) {
    if (names[link] == kAutoTransport) names[link] = nearest[link];
  }
  plan.set_transports(std::move(names));
  return plan;
}

Expected<std::string> data_address(const DaemonClient& device, const std::string& transport) {
  const auto& data = device.info().data;
  if (const auto found = data.find(transport); found != data.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [name, address] : data) names.push_back(name);
  return fail(ErrorCode::kNotFound,
              "{} has no data address for transport \"{}\", only for {}: start its daemon with "
              "--data {}={} too, or use another transport",
              device.config().name, transport, join(names), transport,
              transport == "shm" ? "auto" : "HOST:PORT");
}

Expected<> check_data_addresses(const plan::Plan& plan, const Cluster& cluster) {
  for (std::size_t link = 0; link < plan.links(); ++link) {
    // The sink connects to the last stage.
    const std::size_t stage = plan.replicated ? link / 2 : std::min(link, plan.stages.size() - 1);
    PARETO_ASSIGN(const DaemonClient* device, cluster.find(plan.stages[stage].device));
    PARETO_TRY(data_address(*device, plan.transport_of(link)));
  }
  return {};
}

}  // namespace pareto::cluster
