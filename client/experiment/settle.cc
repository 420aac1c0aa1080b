#include "client/experiment/settle.h"

#include <algorithm>

#include "client/experiment/front.h"
#include "client/experiment/race_schedule.h"
#include "client/results/record_json.h"

namespace pareto::client {
namespace {

bool is_settled(const RunRecord& run) {
  return std::ranges::none_of(run.trials, [](const TrialRecord& trial) {
    // Earlier versions kept no other median than the one that they showed.
    return is_measured(trial) &&
           (trial.p_front == kUnsettled || trial.latency.measured_p50_ms <= 0);
  });
}

}  // namespace

void settle(RunRecord& run) {
  if (!is_adaptive(run)) return settle_by_rounds(run.trials, run.seed);
  SweepOptions options;
  options.adaptive = true;
  const auto schedule = make_race_schedule(run, options);
  schedule->next(run);
  schedule->mark(run);
}

Expected<RunRecord> load_settled(ResultStore& store, const std::string& id) {
  PARETO_ASSIGN(RunRecord run, store.load_run(id));
  if (!is_settled(run)) settle(run);
  return run;
}

}  // namespace pareto::client
