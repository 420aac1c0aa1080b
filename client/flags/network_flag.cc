#include "client/flags/network_flag.h"

#include <map>

#include "coordinator/cluster/testbed_cluster.h"
#include "core/base/text.h"
#include "core/plan/builtin_conditions.h"

namespace pareto::client {

bool is_condition_file(const std::string& network) {
  return network != cluster::Network::kNone && network != cluster::EmulatedNetwork::kOwn;
}

Expected<std::string> networks_of(const std::string& networks, const DeviceFlags& devices) {
  if (!networks.empty()) return networks;
  if (devices.testbed.empty()) return std::string(cluster::Network::kNone);
  PARETO_ASSIGN(const cluster::ChosenTestbed chosen, cluster::find_testbed(devices.testbed));
  return chosen.network();
}

Expected<> check_offered(const cluster::Cluster& cluster,
                         const std::vector<std::string>& networks) {
  const cluster::Network* const network = cluster.network();
  if (network == nullptr) return {};
  for (const std::string& file : networks)
    PARETO_TRY(network->offers(cluster::condition_name(file)));
  return {};
}

Expected<std::vector<cluster::NamedCondition>> read_conditions(const std::string& networks) {
  std::vector<cluster::NamedCondition> conditions;
  std::map<std::string, std::string> files;
  for (const std::string& file : split_list(networks)) {
    if (!is_condition_file(file)) continue;
    if (!is_condition_file(cluster::condition_name(file))) {
      return fail(ErrorCode::kInvalidArgument,
                  "--network {}: \"{}\" is the name of another network: call the file otherwise",
                  file, cluster::condition_name(file));
    }
    if (!files.emplace(cluster::condition_name(file), file).second) {
      return fail(ErrorCode::kInvalidArgument,
                  "--network {}: {} is called \"{}\" too: call one of the files otherwise", file,
                  files.at(cluster::condition_name(file)), cluster::condition_name(file));
    }
    PARETO_ASSIGN(plan::Condition condition, with_context(plan::open_condition(file), "--network"));
    conditions.push_back({cluster::condition_name(file), std::move(condition)});
  }
  return conditions;
}

}  // namespace pareto::client
