#include <algorithm>

#include "coordinator/cluster/codec_choice.h"
#include "coordinator/cluster/network.h"
#include "coordinator/cluster/transport_choice.h"
#include "coordinator/sweep/sweep_plan.h"

namespace pareto::sweep {

Expected<std::vector<results::TrialRecord>> plan_given(const model::Model& model,
                                                       const cluster::Cluster& cluster,
                                                       const SweepOptions& options) {
  // One after the other is checked before anything is measured.
  for (const cluster::NamedPlan& named : options.plans) {
    PARETO_TRY(cluster::check_plan(named, model, cluster));
  }
  std::vector<results::TrialRecord> trials;
  for (const cluster::NamedPlan& named : options.plans) {
    results::TrialRecord trial;
    PARETO_ASSIGN(trial.plan, cluster::with_transports_named(named.plan, cluster));
    PARETO_ASSIGN(trial.split, describe_split(model, trial.plan));
    trial.name = named.name;
    trial.transport = trial.plan.transport_text();
    trial.codec = cluster::codec_text(trial.plan.codecs);
    trial.auto_codec =
        std::ranges::find(trial.plan.codecs, cluster::kAutoCodec) != trial.plan.codecs.end();
    trial.batch = trial.plan.batch;
    for (const std::string& file : options.conditions) {
      trial.condition = cluster::condition_name(file);
      trial.id = named.name;
      if (trial.condition != "none") trial.id += "/" + trial.condition;
      trials.push_back(trial);
    }
  }
  return trials;
}

}  // namespace pareto::sweep
