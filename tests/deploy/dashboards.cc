#include "tests/deploy/dashboards.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "tests/support/process.h"

namespace pareto::test {
namespace {

std::string with_variables(std::string text) {
  // Grafana makes the interval four scrapes at least.
  const std::pair<std::string, std::string> values[]{
      {"$__rate_interval", "1m"}, {"=\"$device\"", "=~\".+\""}, {"$device", ".+"}, {"$stage", ".+"},
      {"$model", ".*"},           {"$pipeline", ".*"}};
  for (const auto& [name, value] : values) {
    for (std::size_t at = text.find(name); at != std::string::npos;
         at = text.find(name, at + value.size())) {
      text.replace(at, name.size(), value);
    }
  }
  return text;
}

}  // namespace

std::vector<Dashboard> dashboards() {
  std::vector<Dashboard> found;
  const std::filesystem::path folder = PARETO_SOURCE_DIR "/deploy/grafana/dashboards";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    found.push_back(
        {entry.path().stem().string(), nlohmann::json::parse(slurp(entry.path().string()))});
  }
  std::ranges::sort(found, {}, &Dashboard::name);
  return found;
}

std::vector<DashboardQuery> queries_of(const Dashboard& dashboard) {
  std::vector<DashboardQuery> queries;
  for (const auto& panel : dashboard.json.at("panels")) {
    const std::string where = dashboard.name + ": " + panel.at("title").get<std::string>();
    for (const auto& target : panel.value("targets", nlohmann::json::array())) {
      queries.push_back({where, with_variables(target.at("expr").get<std::string>())});
    }
  }
  for (const auto& variable : dashboard.json.at("templating").at("list")) {
    if (variable.at("type") != "query") continue;
    // "label_values(METRIC, LABEL)"
    const auto query = variable.at("definition").get<std::string>();
    const std::size_t open = query.find('(');
    const std::size_t comma = query.find(", ", open);
    const std::string label = query.substr(comma + 2, query.size() - comma - 3);
    queries.push_back({dashboard.name + ": variable " + variable.at("name").get<std::string>(),
                       "count by (" + label + ") (" + query.substr(open + 1, comma - open - 1) +
                           "{" + label + "!=\"\"})"});
  }
  return queries;
}

}  // namespace pareto::test
