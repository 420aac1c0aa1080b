#include "client/commands/plan_objectives.h"

#include "coordinator/cluster/daemon_client.h"

namespace pareto::client::commands {

Expected<> check_figures(const cluster::Cluster& cluster, const planning::Objective& objective) {
  if (!objective.needs) return {};
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    const cluster::DeviceConfig& device = cluster.device(i).config();
    if (device.figures.contains(objective.needs->key)) continue;
    return fail(ErrorCode::kInvalidArgument,
                "--also {}: \"{}\" of device {} is not known: say \"{}\" next to its name in the "
                "inventory (--devices)",
                objective.name, objective.needs->key, device.name, objective.needs->example);
  }
  return {};
}

std::vector<const planning::Objective*> known_objectives(const cluster::Cluster& cluster) {
  std::vector<const planning::Objective*> known = planning::searched_objectives();
  std::erase_if(known, [&](const planning::Objective* one) {
    return !check_figures(cluster, *one).has_value();
  });
  return known;
}

std::vector<std::string> searched_objective_names() {
  std::vector<std::string> names;
  for (const planning::Objective* const one : planning::searched_objectives()) {
    names.emplace_back(one->name);
  }
  return names;
}

std::string also_help() {
  std::string text;
  for (const planning::Objective* const one : planning::searched_objectives()) {
    text += fmt::format(
        "{}{} ({}{})", text.empty() ? "" : "; ", one->name, one->title,
        one->needs ? fmt::format(", with \"{}\" in the inventory", one->needs->example) : "");
  }
  return text;
}

}  // namespace pareto::client::commands
