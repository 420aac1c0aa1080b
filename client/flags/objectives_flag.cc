#include "client/flags/objectives_flag.h"

#include <CLI/CLI.hpp>

#include "coordinator/statistics/objective_figures.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "partitioner/planning/objective/objective.h"

namespace pareto::client {

void ObjectivesFlag::add_to(CLI::App& app) {
  std::vector<std::string> known;
  for (const planning::Objective& one : planning::builtin_objectives()) {
    known.emplace_back(one.name);
  }
  set_value(app.add_option("--objectives", names,
                           "objectives that the front is of, two or more, the first two on the "
                           "page's axes: " +
                               join(known) + " (default: latency,throughput)"),
            "LIST", known);
}

Expected<std::vector<std::string>> ObjectivesFlag::read() const {
  std::vector<std::string> chosen = split_list(names);
  if (chosen.empty()) return chosen;
  PARETO_TRY(with_context(statistics::objectives_of_front(chosen), "--objectives {}", names));
  return chosen;
}

}  // namespace pareto::client
