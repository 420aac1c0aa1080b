#include <algorithm>

#include "client/cluster/codec_choice.h"
#include "client/cluster/network.h"
#include "client/cluster/transport_choice.h"
#include "client/experiment/sweep_plan.h"

namespace pareto::client {

Expected<std::vector<TrialRecord>> plan_given(const partitioner::Model& model,
                                              const Cluster& cluster, const SweepOptions& options) {
  // One after the other is checked before anything is measured.
  for (const NamedPlan& named : options.plans) {
    PARETO_TRY(check_plan(named, model, cluster));
  }
  std::vector<TrialRecord> trials;
  for (const NamedPlan& named : options.plans) {
    TrialRecord trial;
    PARETO_ASSIGN(trial.plan, with_transports_named(named.plan, cluster));
    PARETO_ASSIGN(trial.split, describe_split(model, trial.plan));
    trial.name = named.name;
    trial.transport = trial.plan.transport_text();
    trial.codec = codec_text(trial.plan.codecs);
    trial.auto_codec = std::ranges::find(trial.plan.codecs, kAutoCodec) != trial.plan.codecs.end();
    trial.batch = trial.plan.batch;
    for (const std::string& file : options.conditions) {
      trial.condition = condition_name(file);
      trial.id = named.name;
      if (trial.condition != "none") trial.id += "/" + trial.condition;
      trials.push_back(trial);
    }
  }
  return trials;
}

}  // namespace pareto::client
