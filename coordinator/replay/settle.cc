#include "coordinator/replay/settle.h"

#include <algorithm>

#include "coordinator/results/prediction_guide.h"
#include "coordinator/results/record_json.h"
#include "coordinator/statistics/front.h"
#include "coordinator/sweep/race_schedule.h"

namespace pareto::replay {
namespace {

bool is_settled(const results::RunRecord& run) {
  return std::ranges::none_of(run.trials, [](const results::TrialRecord& trial) {
    // Earlier versions kept no other median than the one that they showed.
    return statistics::is_measured(trial) &&
           (trial.p_front == results::kUnsettled || trial.latency.measured_p50_ms <= 0);
  });
}

}  // namespace

void settle(results::RunRecord& run) {
  if (!results::is_adaptive(run)) return statistics::settle_by_rounds(run.trials, run.seed);
  sweep::SweepOptions options;
  options.adaptive = true;
  const auto schedule = sweep::make_race_schedule(run, options);
  schedule->next(run);
  schedule->mark(run);
}

Expected<results::RunRecord> load_settled(results::ResultStore& store, const std::string& id) {
  PARETO_ASSIGN(results::RunRecord run, store.load_run(id));
  if (!is_settled(run)) settle(run);
  // Earlier versions kept a probability of plans that nobody could tell one of.
  if (results::is_adaptive(run)) results::unsettle_unguided(run.trials);
  return run;
}

}  // namespace pareto::replay
