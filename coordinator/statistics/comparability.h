// Decides whether two stored runs measured the same thing, and lists how their settings differ.
#pragma once

#include <string>
#include <vector>

#include "coordinator/results/record.h"
#include "coordinator/statistics/statistics_comparison.h"
#include "core/base/error.h"

namespace pareto::statistics {

/// Returns whether two trials are of the same plan: same split points, devices (by name),
/// transport, codec asked for, batch, micro-batch and condition. For two plans that were handed
/// over as files the names are the same too.
bool same_plan(const results::TrialRecord& a, const results::TrialRecord& b);

/// Returns the trial of the same plan; of several, which differ in settings, the one called the
/// same. Null: there is none.
const results::TrialRecord* find_plan(const results::RunRecord& run,
                                      const results::TrialRecord& like);

/// Returns what sets two runs apart besides the software: settings, devices, networks of one
/// name, an unfinished run, and a fixed loop next to the reference plan that took longer. They are
/// differences somebody may want to measure (what does bf16 bring?), so they are reported and not
/// refused. Each is one sentence. Fails: kInvalidArgument if no ratio would mean anything: another
/// model, or inputs of another size.
Expected<std::vector<std::string>> compare_settings(const results::RunRecord& a,
                                                    const results::RunRecord& b);

/// Returns how many times longer the fixed loop of the run, which only computes, took in b: the
/// machine itself, whatever was measured on it.
Ratio machine_ratio(const results::RunRecord& a, const results::RunRecord& b);

}  // namespace pareto::statistics
