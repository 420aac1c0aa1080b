// The dashboards of deploy/grafana as files: what they ask Prometheus.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace pareto::test {

struct DashboardQuery {
  std::string where;  ///< "fleet: Requests"
  /// Expression with Grafana's variables replaced by what they stand for when everything is chosen.
  std::string expression;
};

struct Dashboard {
  std::string name;  ///< "fleet"
  nlohmann::json json;
};

/// Returns all dashboards, parsed. Throws what the parser does.
std::vector<Dashboard> dashboards();
/// Returns the queries of its panels and its variables.
std::vector<DashboardQuery> queries_of(const Dashboard& dashboard);

}  // namespace pareto::test
