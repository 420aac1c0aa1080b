#include "client/commands/shown_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

namespace pareto::client::commands {

void put_in_order(results::RunRecord& run) {
  const auto place = [](const results::TrialRecord& trial) {
    return std::pair(trial.split ? trial.split->position : std::numeric_limits<std::int64_t>::max(),
                     trial.id);
  };
  std::ranges::sort(run.trials, {}, place);
}

std::filesystem::path default_report(const std::filesystem::path& store, const std::string& run) {
  return store.parent_path() / ("report-" + run + ".html");
}

std::string resume_command(const results::RunRecord& run, const std::string& hint) {
  return fmt::format("paretoctl sweep --resume {}{}", run.id, hint);
}

std::string unfinished_line(const results::RunRecord& run, const std::string& hint) {
  return fmt::format("run {} is not finished; go on with: {}\n", run.id, resume_command(run, hint));
}

}  // namespace pareto::client::commands
