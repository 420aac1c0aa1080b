// The settings of stages in which the plans of a run differ.
#pragma once

#include <vector>

#include "coordinator/results/record.h"
#include "core/plan/varied_settings.h"

namespace pareto::results {

inline plan::VariedSettings varied_settings(const RunRecord& run) {
  std::vector<const plan::Plan*> plans;
  for (const TrialRecord& trial : run.trials) plans.push_back(&trial.plan);
  return plan::VariedSettings(plans);
}

}  // namespace pareto::results
